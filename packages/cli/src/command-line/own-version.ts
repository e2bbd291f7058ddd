import type { Command } from 'commander';

const FLAG = '--version';
const hasFlag = (word: string): boolean => word === FLAG || word.startsWith(`${FLAG}=`);

/** Leaves the flag `--version` to the commands that have one of their own. Otherwise the program prints its version, wherever the flag stands. */
export function leaveVersionToCommands(program: Command): void {
  const names = new Set(
    program.commands.filter(({ options }) => options.some(({ long }) => long === FLAG)).map((each) => each.name()),
  );
  const parse = program.parseOptions.bind(program);
  program.parseOptions = (words) => {
    const command = words.findIndex((word) => names.has(word));
    const at = words.findIndex((word, i) => command >= 0 && i > command && hasFlag(word));
    if (at < 0) return parse(words);
    const end = words[at] === FLAG ? at + 2 : at + 1;
    const { operands, unknown } = parse([...words.slice(0, at), ...words.slice(end)]);
    return { operands, unknown: [...unknown, ...words.slice(at, end)] };
  };
}

import { readFileSync } from 'node:fs';

/** A fenced block of a page, with what the comment above it says of running it. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
  readonly directives: ReadonlyMap<string, string>;
  /** What the block right below shows as the output; `…` stands for anything. */
  readonly expected: string | undefined;
}

const OUTPUT = new Set(['text', 'json', 'console']);

/**
 * Reads the blocks of a Markdown page. A comment `<!-- docs: background -->` before a block directs it:
 * `background` runs it until the page ends, `until` repeats it until the output fits, `exit N` expects that exit code,
 * `replace FILE` applies a diff to a file of an earlier block, `refused` shows a resource with a mistake, `not run: REASON` only shows it.
 */
export function readPage(file: string): Block[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const found: { language: string; text: string; line: number; directives: Map<string, string>; between: string }[] =
    [];
  let directives = new Map<string, string>();
  let between = '';
  for (let i = 0; i < lines.length; i++) {
    const comment = lines[i]!.match(/^<!-- docs: (.+) -->$/);
    const fence = lines[i]!.match(/^```(\w+)/);
    if (comment) directives = parseDirectives(comment[1]!);
    else if (fence) {
      const start = i + 1;
      while (lines[++i] !== '```') if (i >= lines.length) throw new Error(`${file}:${start}: the block does not end`);
      found.push({
        language: fence[1]!,
        text: `${lines.slice(start, i).join('\n')}\n`,
        line: start + 1,
        directives,
        between,
      });
      directives = new Map();
      between = '';
    } else between += lines[i]!.trim();
  }
  return found.map((block, i) => {
    const next = found[i + 1];
    const shows = next && OUTPUT.has(next.language) && next.between === '' && !OUTPUT.has(block.language);
    return { ...block, expected: shows ? next.text : undefined };
  });
}

function parseDirectives(text: string): Map<string, string> {
  if (text.startsWith('not run:')) return new Map([['not run', text.slice('not run:'.length).trim()]]);
  return new Map(
    text.split(',').map((part) => {
      const [name, ...rest] = part.trim().split(' ');
      return [name!, rest.join(' ')];
    }),
  );
}

/** Whether an output is the one a page shows: `…` is anything, white space at the ends of lines does not count. */
export function fits(output: string, expected: string): boolean {
  const clean = (text: string): string => text.replaceAll(/[ \t]+$/gm, '').trim();
  const pattern = clean(expected)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join(String.raw`[\s\S]*`)}$`).test(clean(output));
}

/** Applies a diff block to a text: context and removed lines must stand there in this order, once. */
export function applyDiff(text: string, diff: string): string {
  const lines = diff.split('\n').filter((line) => line !== '');
  const before = lines
    .filter((line) => !line.startsWith('+'))
    .map((line) => line.slice(1))
    .join('\n');
  const after = lines
    .filter((line) => !line.startsWith('-'))
    .map((line) => line.slice(1))
    .join('\n');
  if (text.split(before).length !== 2)
    throw new Error(`the lines of the diff stand not exactly once in the file:\n${before}`);
  return text.replace(before, () => after);
}

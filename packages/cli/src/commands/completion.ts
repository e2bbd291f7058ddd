import type { Command } from 'commander';
import { bashCompletion, completionNodes, zshCompletion } from '../command-line/completion-script.ts';
import { asGroup, addExamples } from '../command-line/command-help.ts';
import type { Terminal } from '../output/terminal.ts';

/** `completion bash|zsh`: a script that completes the words of every command. */
export function addCompletion(program: Command, io: Terminal): void {
  const completion = asGroup(program.command('completion').description('Print a script that completes commands.'));
  addExamples(completion, [['source <(gatewayctl completion bash)', 'in this shell; put it into ~/.bashrc for all']]);
  for (const [shell, script] of [
    ['bash', bashCompletion],
    ['zsh', zshCompletion],
  ] as const) {
    completion
      .command(shell)
      .description(`The script for ${shell}.`)
      .action(() => io.out(script(completionNodes(program))));
  }
}

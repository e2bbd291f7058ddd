import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import { VIEWS } from '../tables/views.ts';
import { EXCLUDABLE } from '../check/checks.ts';
import { addExamples, asGroup } from '../command-line/command-help.ts';

/** `completion bash|zsh`: a script that completes the words of every command. */
export function addCompletion(program: Command, io: Terminal): void {
  const completion = asGroup(program.command('completion').description('Print a script that completes commands.'));
  addExamples(completion, [['source <(gatewayctl completion bash)', 'in this shell; put it into ~/.bashrc for all']]);
  for (const [shell, script] of Object.entries({ bash: bashCompletion, zsh: zshCompletion })) {
    const command = completion.command(shell).description(`The script for ${shell}.`);
    command.action(() => io.out(script(completionNodes(program))));
  }
}

/** What can follow the words of one command: its subcommands and its flags. */
interface CompletionNode {
  /** The words that lead here, e.g. `get virtualservice`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
  /** Values of `-o`. */
  readonly outputs: readonly string[];
  /** The kind, as `get` names it, whose names can follow. */
  readonly names?: string;
}

/** Every command of a tree with what can follow it, aliases spelt out. */
function completionNodes(
  command: Command,
  paths: readonly string[] = [''],
  above: Pick<CompletionNode, 'flags' | 'outputs' | 'names'> = { flags: [], outputs: [] },
): CompletionNode[] {
  const own = command.options.filter((option) => !option.hidden).flatMap(({ long, short }) => [long, short]);
  const flags = [...new Set([...own, '--help', ...above.flags].filter((flag) => typeof flag === 'string'))];
  const words = [...command.commands.map((each) => each.name()), ...choicesOf(command)];
  const view = VIEWS.find((each) => each.command === command.name() && command.parent?.name() === 'get');
  const names = view?.command ?? above.names;
  const outputs = command.options.find(({ long }) => long === '--output')?.argChoices ?? above.outputs;
  const nodes = paths.map((path): CompletionNode => ({ path, words, flags, outputs, ...(names && { names }) }));
  for (const child of command.commands) {
    const all = [child.name(), ...child.aliases()];
    const below = paths.flatMap((path) => all.map((name) => `${path} ${name}`.trim()));
    nodes.push(...completionNodes(child, below, { flags, outputs, ...(names && { names }) }));
  }
  return nodes;
}

const choicesOf = (command: Command): readonly string[] =>
  command.registeredArguments.flatMap((one) => one.argChoices ?? []);

function bashCompletion(nodes: readonly CompletionNode[]): string {
  return `# bash completion of gatewayctl: source <(gatewayctl completion bash)
_gatewayctl_names() {
  local args=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -c|--config|-n|--namespace|--server) args+=("\${COMP_WORDS[i]}" "\${COMP_WORDS[i + 1]}") ;;
    esac
  done
  "\${COMP_WORDS[0]}" get "$1" -o name "\${args[@]}" 2>/dev/null | sed 's|^.*/||'
}
_gatewayctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
${descents(nodes)}
    esac
  done
  local words=""
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    -o|--output)
      case "$path" in
${outputCases(nodes, (path, values) => `        "${path}") words="${values}" ;;`)}
      esac ;;
    -x|--exclude) words="${EXCLUDABLE.join(' ')}" ;;
    *)
      case "$path" in
${nodes.map(({ path, words, flags }) => `        "${path}") words="${[...words, ...flags].join(' ')}" ;;`).join('\n')}
      esac
      if [[ "$current" != -* ]]; then
        case "$path" in
${nameCases(nodes, (path, kind) => `          "${path}") words="$words $(_gatewayctl_names ${kind})" ;;`)}
        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gatewayctl gatewayctl
`;
}

function zshCompletion(nodes: readonly CompletionNode[]): string {
  return `#compdef gatewayctl
# zsh completion of gatewayctl: source <(gatewayctl completion zsh)
_gatewayctl_names() {
  local -a args
  local i
  for ((i = 2; i < CURRENT; i++)); do
    case "\${words[i]}" in
      -c|--config|-n|--namespace|--server) args+=("\${words[i]}" "\${words[i + 1]}") ;;
    esac
  done
  "\${words[1]}" get "$1" -o name "\${args[@]}" 2>/dev/null | sed 's|^.*/||'
}
_gatewayctl() {
  local path_="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$path_ $word" in
${descents(nodes).replaceAll('path=', 'path_=')}
    esac
  done
  local -a candidates
  case "\${words[CURRENT - 1]}" in
    -o|--output)
      case "$path_" in
${outputCases(nodes, (path, values) => `        "${path}") candidates=(${values}) ;;`)}
      esac ;;
    -x|--exclude) candidates=(${EXCLUDABLE.join(' ')}) ;;
    *)
      case "$path_" in
${nodes.map(({ path, words, flags }) => `        "${path}") candidates=(${[...words, ...flags].join(' ')}) ;;`).join('\n')}
      esac
      if [[ "\${words[CURRENT]}" != -* ]]; then
        case "$path_" in
${nameCases(nodes, (path, kind) => `          "${path}") candidates+=(\${(f)"$(_gatewayctl_names ${kind})"}) ;;`)}
        esac
      fi ;;
  esac
  if (( \${#candidates} )); then compadd -- $candidates; fi
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
compdef _gatewayctl gatewayctl
`;
}

function outputCases(nodes: readonly CompletionNode[], line: (path: string, values: string) => string): string {
  return nodes.flatMap(({ path, outputs }) => (outputs.length > 0 ? [line(path, outputs.join(' '))] : [])).join('\n');
}

function nameCases(nodes: readonly CompletionNode[], line: (path: string, kind: string) => string): string {
  return nodes.flatMap(({ path, names }) => (names === undefined ? [] : [line(path, names)])).join('\n');
}

function descents(nodes: readonly CompletionNode[]): string {
  const below = nodes.filter(({ path }) => path !== '');
  const from = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(' ')));
  return below
    .map(({ path }) => `      "${from(path)} ${path.slice(path.lastIndexOf(' ') + 1)}") path="${path}" ;;`)
    .join('\n');
}

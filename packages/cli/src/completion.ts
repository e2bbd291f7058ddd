import type { Command } from 'commander';

/** What can follow the words of one command: its subcommands and its flags. */
export interface CompletionNode {
  /** The words that lead here, e.g. `get virtualservice`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** Every command of a tree with what can follow it, aliases spelt out. */
export function completionNodes(command: Command, paths: readonly string[] = [''], above: readonly string[] = []) {
  const own = command.options.filter((option) => !option.hidden).flatMap(({ long, short }) => [long, short]);
  const flags = [...new Set([...own, '--help', ...above].filter((flag): flag is string => typeof flag === 'string'))];
  const words = [...command.commands.map((each) => each.name()), ...choicesOf(command)];
  const nodes: CompletionNode[] = paths.map((path) => ({ path, words, flags }));
  for (const child of command.commands) {
    const names = [child.name(), ...child.aliases()];
    const below = paths.flatMap((path) => names.map((name) => `${path} ${name}`.trim()));
    nodes.push(...completionNodes(child, below, flags));
  }
  return nodes;
}

const choicesOf = (command: Command): readonly string[] =>
  command.registeredArguments.flatMap((one) => one.argChoices ?? []);

/** The completion script for bash. */
export function bashCompletion(nodes: readonly CompletionNode[]): string {
  return `# bash completion of gatewayctl: source <(gatewayctl completion bash)
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
  case "$path" in
${nodes.map(({ path, words, flags }) => `    "${path}") words="${[...words, ...flags].join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gatewayctl gatewayctl
`;
}

/** The completion script for zsh. */
export function zshCompletion(nodes: readonly CompletionNode[]): string {
  return `#compdef gatewayctl
# zsh completion of gatewayctl: source <(gatewayctl completion zsh)
_gatewayctl() {
  local path_="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$path_ $word" in
${descents(nodes).replaceAll('path=', 'path_=')}
    esac
  done
  local -a candidates
  case "$path_" in
${nodes.map(({ path, words, flags }) => `    "${path}") candidates=(${[...words, ...flags].join(' ')}) ;;`).join('\n')}
  esac
  if (( \${#candidates} )); then compadd -- $candidates; fi
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
compdef _gatewayctl gatewayctl
`;
}

function descents(nodes: readonly CompletionNode[]): string {
  const below = nodes.filter(({ path }) => path !== '');
  const from = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(' ')));
  return below
    .map(({ path }) => `      "${from(path)} ${path.slice(path.lastIndexOf(' ') + 1)}") path="${path}" ;;`)
    .join('\n');
}

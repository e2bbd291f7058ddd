import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import { VIEWS } from '../tables/views.ts';
import { EXCLUDABLE } from '../check/checks.ts';
import { addExamples, asGroup } from '../command-line/command-help.ts';

/** `completion bash|zsh|fish`: a script that completes the words of every command. */
export function addCompletion(program: Command, io: Terminal): void {
  const completion = asGroup(program.command('completion').description('Print a script that completes commands.'));
  addExamples(completion, [['source <(gatewayctl completion bash)', 'in this shell; put it into ~/.bashrc for all']]);
  for (const [shell, script] of Object.entries({ bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion })) {
    const command = completion.command(shell).description(`The script for ${shell}.`);
    command.action(() => io.out(script(completionNodes(program))));
  }
}

/** The groups whose subcommands are kinds, with names of resources as arguments. */
const NAMED: ReadonlySet<string> = new Set(['get', 'delete', 'edit']);

/** The kind, as `get` names it, of the resources that a flag names. */
const NAME_FLAGS: Readonly<Record<string, string>> = {
  '-u|--dest-name': 'upstream',
  '--upstream-group-name': 'upstreamgroup',
  '--delegate-name': 'routetable',
  '--ssl-secret-name': 'secret',
  '--extauth-server-name|--ratelimit-server-name': 'upstream',
};

/** The commands whose `--name` is a virtual service. */
const ROUTE_COMMANDS = ['add route', 'remove route', 'route sort', 'edit route externalauth'];

/** What can follow the words of one command: its subcommands and its flags. */
interface CompletionNode {
  /** The words of the command, e.g. `get virtualservice`; empty for the program itself. Aliases share the node. */
  readonly path: string;
  /** The names of the last word. */
  readonly last: readonly string[];
  readonly words: readonly string[];
  readonly flags: readonly string[];
  /** Values of `-o`. */
  readonly outputs: readonly string[];
  /** The kind, as `get` names it, whose names can follow. */
  readonly names?: string;
}

/** Every command of a tree with its possible next words. */
function completionNodes(
  command: Command,
  path = '',
  above: Pick<CompletionNode, 'flags' | 'outputs' | 'names'> = { flags: [], outputs: [] },
): CompletionNode[] {
  const own = command.options.filter((option) => !option.hidden).flatMap(({ long, short }) => [long, short]);
  const flags = [...new Set([...own, '--help', ...above.flags].filter((flag) => typeof flag === 'string'))];
  const words = [...command.commands.map((each) => each.name()), ...choicesOf(command)];
  const view = VIEWS.find((each) => each.command === command.name() && NAMED.has(command.parent?.name() ?? ''));
  const names = view?.command ?? above.names;
  const outputs = command.options.find(({ long }) => long === '--output')?.argChoices ?? above.outputs;
  const last = [command.name(), ...command.aliases()];
  const node: CompletionNode = { path, last, words, flags, outputs, ...(names && { names }) };
  const below = command.commands.flatMap((child) =>
    completionNodes(child, `${path} ${child.name()}`.trim(), { flags, outputs, ...(names && { names }) }),
  );
  return [node, ...below];
}

const choicesOf = (command: Command): readonly string[] =>
  command.registeredArguments.flatMap((one) => one.argChoices ?? []);

/** Names of resources. The shell would run what else a server sends: `compgen -W` expands `$(…)` in its words. */
const NAMES_ONLY = String.raw`sed -n 's|^.*/\([[:alnum:]][[:alnum:]._-]*\)$|\1|p'`;

function bashCompletion(nodes: readonly CompletionNode[]): string {
  return `# bash completion of gatewayctl: source <(gatewayctl completion bash)
_gatewayctl_names() {
  local args=() i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -c|--config|-n|--namespace|--server) args+=("\${COMP_WORDS[i]}" "\${COMP_WORDS[i + 1]}") ;;
    esac
  done
  "\${COMP_WORDS[0]}" get "$1" -o name "\${args[@]}" 2>/dev/null | ${NAMES_ONLY}
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
    -x|--exclude)
      case "$path" in check) words="${EXCLUDABLE.join(' ')}" ;; esac ;;
${Object.entries(NAME_FLAGS)
  .map(([flags, kind]) => `    ${flags}) words="$(_gatewayctl_names ${kind})" ;;`)
  .join('\n')}
    --name)
      case "$path" in
${namedByFlag(nodes, (path, kind) => `        "${path}") words="$(_gatewayctl_names ${kind})" ;;`)}
      esac ;;
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
  "\${words[1]}" get "$1" -o name "\${args[@]}" 2>/dev/null | ${NAMES_ONLY}
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
    -x|--exclude)
      case "$path_" in check) candidates=(${EXCLUDABLE.join(' ')}) ;; esac ;;
${Object.entries(NAME_FLAGS)
  .map(([flags, kind]) => `    ${flags}) candidates=(\${(f)"$(_gatewayctl_names ${kind})"}) ;;`)
  .join('\n')}
    --name)
      case "$path_" in
${namedByFlag(nodes, (path, kind) => `        "${path}") candidates=(\${(f)"$(_gatewayctl_names ${kind})"}) ;;`)}
      esac ;;
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

function fishCompletion(nodes: readonly CompletionNode[]): string {
  const below = nodes.filter(({ path }) => path !== '');
  return `# fish completion of gatewayctl: gatewayctl completion fish | source
function __gatewayctl_names
  set -l words (commandline -opc)
  set -l args
  for i in (seq 2 (count $words))
    switch $words[$i]
      case -c --config -n --namespace --server
        set -a args $words[$i] $words[(math $i + 1)]
    end
  end
  $words[1] get $argv[1] -o name $args 2>/dev/null | string replace -rf '^.*/([a-zA-Z0-9][a-zA-Z0-9._-]*)$' '$1'
end
function __gatewayctl
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l path ''
  for word in $words[2..-1]
    switch "$path $word"
${below.map(({ path, last }) => `      case ${last.map((name) => `'${parentOf(path)} ${name}'`).join(' ')}\n        set path '${path}'`).join('\n')}
    end
  end
  switch $words[-1]
    case -o --output
      switch $path
${outputCases(nodes, (path, values) => `        case '${path}'\n          string split -- ' ' '${values}'`)}
      end
      return
    case -x --exclude
      if test "$path" = check
        string split -- ' ' '${EXCLUDABLE.join(' ')}'
      end
      return
${Object.entries(NAME_FLAGS)
  .map(([flags, kind]) => `    case ${flags.replace('|', ' ')}\n      __gatewayctl_names ${kind}\n      return`)
  .join('\n')}
    case --name
      switch $path
${namedByFlag(nodes, (path, kind) => `        case '${path}'\n          __gatewayctl_names ${kind}`)}
      end
      return
  end
  switch $path
${nodes.map(({ path, words, flags }) => `    case '${path}'\n      string split -- ' ' '${[...words, ...flags].join(' ')}'`).join('\n')}
  end
  if not string match -q -- '-*' $current
    switch $path
${nameCases(nodes, (path, kind) => `      case '${path}'\n        __gatewayctl_names ${kind}`)}
    end
  end
end
function __gatewayctl_reads_files
  set -l words (commandline -opc)
  contains -- $words[-1] -c --config -f --file --snapshot-file; and return 0
  set -q words[2]; and contains -- $words[2] validate test fmt diff; and not string match -q -- '-*' (commandline -ct)
end
complete -c gatewayctl -f -a '(__gatewayctl)'
complete -c gatewayctl -n __gatewayctl_reads_files -F
`;
}

/** The commands whose `--name` names a resource. */
function namedByFlag(nodes: readonly CompletionNode[], line: (path: string, kind: string) => string): string {
  const byArgument = nodes.flatMap(({ path, names, flags }) =>
    names !== undefined && flags.includes('--name') ? [line(path, names)] : [],
  );
  return [...byArgument, ...ROUTE_COMMANDS.map((path) => line(path, 'virtualservice'))].join('\n');
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(' ')));

function outputCases(nodes: readonly CompletionNode[], line: (path: string, values: string) => string): string {
  return nodes.flatMap(({ path, outputs }) => (outputs.length > 0 ? [line(path, outputs.join(' '))] : [])).join('\n');
}

function nameCases(nodes: readonly CompletionNode[], line: (path: string, kind: string) => string): string {
  return nodes.flatMap(({ path, names }) => (names === undefined ? [] : [line(path, names)])).join('\n');
}

function descents(nodes: readonly CompletionNode[]): string {
  const below = nodes.filter(({ path }) => path !== '');
  return below
    .map(({ path, last }) => `      ${last.map((name) => `"${parentOf(path)} ${name}"`).join('|')}) path="${path}" ;;`)
    .join('\n');
}

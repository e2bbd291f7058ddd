import { gatewayNamespace, keyOf } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { valueOf, type Flags } from '../create/flags.ts';
import {
  existing,
  neededName,
  parseIndex,
  printChanged,
  withChangeFlags,
  type ResourceFlags,
} from '../edit/change-command.ts';
import type { ResourceDraft } from '../edit/resource-draft.ts';
import { changeResource } from '../edit/change-resource.ts';
import { editInEditor } from '../edit/edit-in-editor.ts';
import type { EditedResource, Identity } from '../edit/resource-file.ts';
import { cliError } from '../error-codes.ts';
import { yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { items } from '../resources/objects.ts';
import { rejectIndex, routesPath } from '../route/route-owner.ts';

type EditFlags = ResourceFlags & Flags & { readonly index?: string };

/** `edit`: changes fields of resources of a directory. */
export function addEdit(program: Command, io: Terminal): void {
  const group = asGroup(
    program.command('edit').alias('ed').description('Change a resource of a directory or a cluster.'),
  );
  hideGlobalFlags(group, CONNECTION_FLAGS);
  addExamples(group, [
    ['gatewayctl edit virtualservice shop --ssl-secret-name shop-tls -c ./resources', 'serve it over TLS'],
    ['gatewayctl edit route externalauth --name shop -x 1 --disable -c ./resources', 'a route without login'],
    ['gatewayctl edit settings ratelimit server-config -c ./resources', 'rules of limits, in $EDITOR'],
  ]);
  addEditVirtualService(group, io);
  addEditRoute(group, io);
  addEditUpstream(group, io);
  addEditSettings(group, io);
}

/** The TLS flags of a kind: what they set in `spec.sslConfig`. */
interface TlsFlags {
  readonly namesFlag: string;
  readonly setNames: (text: string) => readonly [field: string, value: unknown];
}

const ROUTE_LIMITS = `rateLimits:
- actions:
  - genericKey: { descriptorValue: shop }
`;

function addEditVirtualService(group: Command, io: Terminal): void {
  const command = named(group.command('virtualservice').aliases(['vs', 'virtualservices']));
  command
    .description('Change the TLS configuration of a virtual service.')
    .option('--ssl-secret-name <name>', 'Secret with the certificate')
    .option('--ssl-secret-namespace <namespace>', 'namespace of that Secret; default: that of the virtual service')
    .option('--ssl-sni-domains <names>', 'server names of the certificate, separated by commas')
    .option('--ssl-remove', 'serve it without TLS');
  addTlsAction(command, io, {
    namesFlag: 'ssl-sni-domains',
    setNames: (text) => ['sniDomains', text.split(',').map((name) => name.trim())],
  });
  const ratelimit = asGroup(command.command('ratelimit').description('Change the rate limits of a virtual service.'));
  const config = withChangeFlags(ratelimit.command('client-config').description('Edit the rate limits in $EDITOR.'));
  config.addOption(new Option('--name <name>', 'VirtualService, required'));
  config.action(async () => {
    const flags = config.optsWithGlobals<EditFlags>();
    const wanted = { kind: 'VirtualService', namespace: flags.namespace, name: neededName(flags) };
    await editField(io, flags, {
      find: (draft) => existing(draft, wanted),
      pathIn: () => ['spec', 'virtualHost', 'options', 'ratelimit'],
      file: 'ratelimit.yaml',
      example: ROUTE_LIMITS,
    });
  });
}

function addEditUpstream(group: Command, io: Terminal): void {
  const command = named(group.command('upstream').aliases(['us', 'u', 'upstreams']));
  command
    .description('Change the TLS configuration of an upstream.')
    .option('--ssl-secret-name <name>', 'Secret with the client certificate, or with root certificates')
    .option('--ssl-secret-namespace <namespace>', 'namespace of that Secret; default: that of the upstream')
    .option('--ssl-sni <name>', 'server name')
    .option('--ssl-remove', 'connect without TLS');
  addTlsAction(command, io, { namesFlag: 'ssl-sni', setNames: (text) => ['sni', text] });
}

/** Adds the flags of a command that changes one resource. Its name may be an argument. */
function named(command: Command): Command {
  return withChangeFlags(command)
    .argument('[name]', 'name of the resource')
    .addOption(new Option('--name <name>', 'same as the argument'));
}

const KINDS_OF_COMMANDS = { virtualservice: 'VirtualService', upstream: 'Upstream' } as const;

function addTlsAction(command: Command, io: Terminal, names: TlsFlags): void {
  const kind = KINDS_OF_COMMANDS[command.name() as keyof typeof KINDS_OF_COMMANDS];
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<EditFlags>();
    const name = neededName({ ...flags, name: argument ?? flags.name });
    const wanted = { kind, namespace: flags.namespace, name };
    await changeResource(io, flags, { of: wanted, change: tlsChange(flags, names, flags.namespace) });
  });
}

const SSL = ['spec', 'sslConfig'];
/** Other sources of a certificate, of which only one is allowed. */
const OTHER_SOURCES = ['sslFiles', 'sds'];

function tlsChange(flags: Flags, { namesFlag, setNames }: TlsFlags, namespace: string) {
  const secret = valueOf(flags, 'ssl-secret-name');
  const secretNamespace = valueOf(flags, 'ssl-secret-namespace');
  const names = valueOf(flags, namesFlag);
  const isRemoved = flags['sslRemove'] === true;
  if (isRemoved && (secret ?? secretNamespace ?? names) !== undefined)
    throw cliError('ERR_CLI_USAGE', '--ssl-remove cannot be combined with another --ssl flag');
  if (secretNamespace !== undefined && secret === undefined)
    throw cliError('ERR_CLI_USAGE', '--ssl-secret-namespace requires --ssl-secret-name');
  if (!isRemoved && (secret ?? names) === undefined)
    throw cliError('ERR_CLI_USAGE', `nothing to change: pass --ssl-secret-name, --${namesFlag} or --ssl-remove`);
  return (resource: EditedResource): void => {
    if (isRemoved) return resource.unset(SSL);
    if (secret !== undefined) {
      for (const other of OTHER_SOURCES) resource.unset([...SSL, other]);
      resource.set([...SSL, 'secretRef'], { name: secret, namespace: secretNamespace ?? namespace });
    }
    if (names !== undefined) {
      const [field, value] = setNames(names);
      resource.set([...SSL, field], value);
    }
  };
}

function addEditRoute(group: Command, io: Terminal): void {
  const route = asGroup(group.command('route').aliases(['r', 'routes']).description('Change a route.'));
  const routeFlags = (command: Command): Command =>
    withChangeFlags(command)
      .option('--name <name>', 'VirtualService, required')
      .option('-x, --index <index>', 'position of the route; 0 is the first', '0');
  const ratelimit = asGroup(route.command('ratelimit').description('Change the rate limits of a route.'));
  const config = routeFlags(ratelimit.command('client-config').description('Edit the rate limits in $EDITOR.'));
  config.action(async () => {
    const flags = config.optsWithGlobals<EditFlags>();
    const wanted = { kind: 'VirtualService', namespace: flags.namespace, name: neededName(flags) };
    await editField(io, flags, {
      find: (draft) => existing(draft, wanted),
      pathIn: (resource) => [...routePath(resource, wanted, flags), 'options', 'ratelimit'],
      file: 'ratelimit.yaml',
      example: ROUTE_LIMITS,
    });
  });
  const extauth = routeFlags(route.command('externalauth').description('Change the external auth of a route.'));
  extauth.option('-d, --disable [boolean]', 'disable external auth on the route; false enables it again', 'true');
  extauth.action(async () => {
    const flags = extauth.optsWithGlobals<EditFlags>();
    const wanted = { kind: 'VirtualService', namespace: flags.namespace, name: neededName(flags) };
    const disable = parseBoolean('disable', flags['disable']);
    await changeResource(io, flags, {
      of: wanted,
      change(resource, identity) {
        const path = [...routePath(resource, identity, flags), 'options', 'extauth'];
        if (disable) resource.set(path, { disable: true });
        else resource.unset([...path, 'disable']);
      },
    });
  });
}

function parseBoolean(flag: string, value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === 'false') return false;
  throw cliError('ERR_CLI_USAGE', `--${flag} must be true or false, not '${String(value)}'`);
}

function routePath(
  resource: EditedResource,
  owner: Identity,
  { index = '0' }: EditFlags,
): readonly (string | number)[] {
  const path = routesPath(owner.kind);
  const position = parseIndex(index);
  rejectIndex(owner, position, items(resource.get(path)).length);
  return [...path, position];
}

const SETTINGS = { kind: 'Settings', name: 'default' } as const;
const SERVER_RULES = `descriptors:
- key: generic_key
  value: shop
  rateLimit: { requestsPerUnit: 100, unit: MINUTE }
`;

function addEditSettings(group: Command, io: Terminal): void {
  const settings = asGroup(group.command('settings').aliases(['set', 'st']).description('Change the Settings.'));
  const serverFlags = (command: Command, kind: string): Command =>
    settingsFlags(command)
      .option(`--${kind}-server-name <name>`, 'Upstream of the server')
      .option(`--${kind}-server-namespace <namespace>`, 'namespace of that Upstream; default: that of the gateway');
  const extauth = serverFlags(settings.command('externalauth').description('Choose the auth server.'), 'extauth');
  extauth.action(async () => {
    const flags = extauth.optsWithGlobals<EditFlags>();
    const ref = serverRef(flags, 'extauth');
    if (!ref) throw cliError('ERR_CLI_USAGE', 'nothing to change: pass --extauth-server-name');
    await changeSettings(io, flags, [[['spec', 'extauth', 'extauthzServerRef'], ref]]);
  });
  const ratelimit = serverFlags(settings.command('ratelimit').description('Choose the rate limit server.'), 'ratelimit')
    .option('--request-timeout <duration>', 'timeout of a request to the server, e.g. 100ms')
    .option('--deny-on-failure [boolean]', 'respond with 500 if the server fails');
  ratelimit.action(async () => {
    const flags = ratelimit.optsWithGlobals<EditFlags>();
    const changes = rateLimitChanges(flags);
    if (changes.length === 0) {
      const text = 'nothing to change: pass --ratelimit-server-name, --request-timeout or --deny-on-failure';
      throw cliError('ERR_CLI_USAGE', text);
    }
    await changeSettings(io, flags, changes);
  });
  const config = ratelimit.command('server-config').description('Edit the rate limit rules in $EDITOR.');
  settingsFlags(config).action(async () => {
    const flags = config.optsWithGlobals<EditFlags>();
    await editField(io, flags, {
      find: (draft) => settingsOf(draft, flags),
      pathIn: () => ['spec', 'ratelimit'],
      file: 'ratelimit-rules.yaml',
      example: SERVER_RULES,
    });
  });
}

function settingsFlags(command: Command): Command {
  return withChangeFlags(command).option('--name <name>', 'name of the Settings', SETTINGS.name);
}

type Change = readonly [path: readonly string[], value: unknown];

function rateLimitChanges(flags: EditFlags): Change[] {
  const base = ['spec', 'ratelimitServer'];
  const ref = serverRef(flags, 'ratelimit');
  const timeout = valueOf(flags, 'request-timeout');
  const deny = flags['denyOnFailure'];
  return [
    ...(ref ? [[[...base, 'ratelimitServerRef'], ref] as const] : []),
    ...(timeout === undefined ? [] : [[[...base, 'requestTimeout'], timeout] as const]),
    ...(deny === undefined ? [] : [[[...base, 'denyOnFail'], parseBoolean('deny-on-failure', deny)] as const]),
  ];
}

function serverRef(flags: Flags, kind: string): { name: string; namespace: string } | undefined {
  const [name, namespace] = [valueOf(flags, `${kind}-server-name`), valueOf(flags, `${kind}-server-namespace`)];
  if (name === undefined && namespace !== undefined)
    throw cliError('ERR_CLI_USAGE', `--${kind}-server-namespace requires --${kind}-server-name`);
  return name === undefined ? undefined : { name, namespace: namespace ?? gatewayNamespace() };
}

async function changeSettings(io: Terminal, flags: EditFlags, changes: readonly Change[]): Promise<void> {
  await changeResource(io, flags, {
    of: (draft) => settingsOf(draft, flags),
    change(resource) {
      for (const [path, value] of changes) resource.set(path, value);
    },
  });
}

/** The Settings of the flags, which are added if they are missing. */
function settingsOf(draft: ResourceDraft, { name = SETTINGS.name, namespace }: EditFlags): Identity {
  const identity = { kind: SETTINGS.kind, namespace, name };
  const isKnown = draft.identities.some((one) => one.kind === SETTINGS.kind && one.name === name);
  if (isKnown) return existing(draft, identity);
  const metadata = { name, namespace };
  const empty = { apiVersion: 'settings.gw.vendor.io/v1', kind: SETTINGS.kind, metadata, spec: {} };
  draft.add(keyOf(SETTINGS.kind, metadata), { text: yamlText(empty) });
  return identity;
}

async function editField(io: Terminal, flags: EditFlags, field: Parameters<typeof editInEditor>[2]): Promise<void> {
  const done = await editInEditor(io, flags, field);
  if (done) printChanged(io, flags, { ...done.result, state: done.state });
  else io.err('Edit cancelled, no changes made.');
}

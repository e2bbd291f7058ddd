import { nearest } from '@edge-gateway/core';
import { Command } from 'commander';
import { BUILD } from '../settings.ts';
import { allRole } from './all-role.ts';
import { extAuthRole } from './extauth-role.ts';
import { controlPlaneRole } from './control-plane-role.ts';
import { discoveryRole } from './discovery-role.ts';
import { proxyRole } from './proxy-role.ts';
import { rateLimitRole } from './rate-limit-role.ts';
import type { Role, RoleSettings } from './role.ts';

/** The roles besides `all`, which is the default. */
const SERVICES: readonly AnyRole[] = [controlPlaneRole, proxyRole, discoveryRole, extAuthRole, rateLimitRole];

type AnyRole = Pick<Role<never>, 'name' | 'description' | 'required' | 'check' | 'ports' | 'options' | 'start'>;

const CONFIG = { setting: 'config', flag: '--config <dir>' };

/** Starts a role with its settings. */
export type Run = (settings: RoleSettings, start: NonNullable<Role['start']>) => Promise<void>;

/**
 * Returns the command line of `edge-gateway`: a subcommand for each role, `all` if none is given. Each flag overrides a variable.
 * `run` gets the settings and the role; commander prints help and errors, and ends the process: with status 2 if the arguments are invalid.
 */
export function createProgram(run: Run): Command {
  const program = new Command('edge-gateway');
  program
    .usage('[role] [options]')
    .configureHelp({ visibleArguments: () => [] })
    .version(BUILD.version)
    .configureOutput({ outputError: (text, write) => write(errorText(unknownRole(program.args[0]) ?? text)) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    // Flags after a role belong to it, also those with the name of a flag of `all`.
    .enablePositionalOptions()
    .helpCommand(false)
    .commandsGroup('Roles:')
    .argument('[role]', 'all', (text) => checkRole(program, text), 'all');
  addRole(program, allRole, run);
  for (const role of SERVICES) {
    const command = program.command(role.name, { hidden: !role.start });
    addRole(command, role, run);
    command.hook('preAction', () => rejectEarlierFlags(program, role));
  }
  return program;
}

function addRole(command: Command, role: AnyRole, run: Run): void {
  const { description, ports, options, start, required = CONFIG } = role;
  const check = role.check as Role['check'] | undefined;
  command.description(description).action(async () => {
    const settings = command.opts<RoleSettings>();
    if (!start) notYet(command, `the role ${command.name()}`);
    // Checked here, after commander has rejected unknown flags, which a mandatory option would precede.
    if (!check && settings[required.setting as keyof RoleSettings] === undefined)
      command.error(`error: required option '${required.flag}' not specified`);
    const misfit = check?.(settings);
    if (misfit) command.error(`error: ${misfit}`);
    const clash = portClash(settings, ports);
    if (clash) command.error(`error: ${clash}`);
    await run(settings, start as NonNullable<Role['start']>);
  });
  for (const each of options((what) => notYet(command, what))) command.addOption(each);
}

/** A flag before the role would be ignored. */
function rejectEarlierFlags(program: Command, { name }: AnyRole): void {
  const earlier = program.options.find((each) => program.getOptionValueSource(each.attributeName()) === 'cli');
  if (earlier)
    program.error(`error: ${earlier.long} must follow the role: write edge-gateway ${name} ${earlier.flags}`);
}

/** Returns an error message if two flags set the same port. */
function portClash(settings: RoleSettings, ports: Role['ports']): string | undefined {
  const flags = new Map<number, string>();
  for (const [key, { flag }] of Object.entries(ports)) {
    const number = settings[key as keyof RoleSettings] as number | undefined;
    if (number === undefined) continue;
    const other = flags.get(number);
    if (other && number !== 0) return `${other} and ${flag} are both ${number}: choose different ports`;
    flags.set(number, flag);
  }
  return undefined;
}

/** Ends the program with an error about an option that is not supported yet. */
function notYet(program: Command, what: string): never {
  return program.error(`error: ${what} is not supported yet: one process runs everything. Leave it out.`);
}

/** The default role may be given or left out. */
function checkRole(program: Command, text: string): string {
  const problem = unknownRole(text);
  if (problem) program.error(problem);
  return text;
}

/** Returns the error about a first argument that is no role, which precedes those about its flags. */
function unknownRole(text: string | undefined): string | undefined {
  const roles = [allRole, ...SERVICES].flatMap(({ name, start }) => (start ? [name] : []));
  if (text === undefined || text.startsWith('-') || roles.includes(text)) return undefined;
  const near = nearest(text, roles);
  const hint = near === undefined ? `: the roles are ${roles.join(', ')}` : ` (did you mean ${near}?)`;
  return `error: unknown role '${text}'${hint}`;
}

/** Returns an error of the command line as one line, with a hint for an unknown option. */
function errorText(text: string): string {
  return (
    `${text.trimEnd()}\n`
      .replace(/^error: /, 'Error: ')
      // The value of an address may contain a password.
      .replace(
        /^(Error: option '[^']*<url>') (?:value|argument) '.*' (from env '\w+' )?is invalid\./s,
        '$1 $2is invalid:',
      )
      .replace(/ is invalid\. (?=[a-z])/, ' is invalid: ')
      .replace(/\n\(Did you mean (.+)\?\)/, ' (did you mean $1?)')
      .replace(/^(Error: unknown option '[^']*')\n$/, '$1 (see --help)\n')
  );
}

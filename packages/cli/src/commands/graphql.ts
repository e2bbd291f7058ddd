import { Option, type Command } from 'commander';
import { readInputFile } from '../resources/input-file.ts';
import { attempt, chooseGraphQLApi, partsOf, readGraphQLObjects } from '../resources/graphql-objects.ts';
import { asGroup, addExamples, exitStatus } from '../command-line/command-help.ts';
import { count } from '../output/problem-lines.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface CheckFlags {
  readonly api?: string;
  readonly rule?: readonly (typeof RULES)[number][];
  readonly output: 'table' | 'json';
}

const RULES = [
  'RULE_DANGEROUS_TO_BREAKING',
  'RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS',
  'RULE_IGNORE_DESCRIPTION_CHANGES',
  'RULE_IGNORE_UNREACHABLE',
] as const;

/** `graphql check FILE`: what a new schema would break for clients of the running one. */
export function addGraphql(program: Command, io: Terminal): void {
  const group = asGroup(program.command('graphql').description('Work with the schemas of GraphQL APIs.'));
  const command = group
    .command('check')
    .description('Compare a schema file with the running schema; exit status 1 when clients would break.')
    .argument('<file>', 'schema definition language, e.g. schema.graphql')
    .option('--api <name>', 'the GraphQLApi to compare with, when there are several: name or namespace/name')
    .option('-c, --config <dir>', 'compare with this directory of resources instead of a running gateway')
    .addOption(new Option('--rule <rule...>', 'how changes are judged').choices(RULES))
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl graphql check schema.graphql', 'with the only API of the running gateway'],
    ['gatewayctl graphql check schema.graphql --api bookinfo -c ./resources', 'of a directory'],
  ]);
  command.action(async (file: string) => {
    const flags = command.opts<CheckFlags>();
    const text = readInputFile(io, file).toString('utf8');
    const objects = await readGraphQLObjects(io, command);
    const api = chooseGraphQLApi(objects, flags.api);
    const { apiSchema, compareSchemas, readSchemaText } = await import('@edge-gateway/graphql');
    const after = attempt(() => readSchemaText(text), file);
    const before = attempt(() => apiSchema(partsOf(api, objects)));
    const changes = await compareSchemas(before, after, flags.rule);
    if (flags.output === 'json') io.out(JSON.stringify(changes, undefined, 2));
    else for (const { level, message } of changes) io.outWrapped(`${level.padEnd(9)}  ${message}`);
    const breaking = changes.filter(({ level }) => level === 'breaking').length;
    io.err(`${count(changes.length, 'change')}, ${breaking || 'none'} breaking`);
    if (breaking > 0) throw exitStatus(1);
  });
}

import type { Support } from '../../packages/core/src/schema/field.ts';
import type { KindInfo } from '../../packages/core/src/schema/kinds.ts';
import { blocksOf, reachOf, typeName, worse, type Block } from './model.ts';
import { SUPPORT_WORDS, page, table } from './table.ts';

/** The page of one kind: its fields, then those of every block in them. */
export function resourcePage(info: KindInfo): string {
  const blocks = blocksOf(info);
  const reach = reachOf(blocks);
  const [own, ...others] = [...blocks.values()];
  const shared = others.toSorted((a, b) => (a.title < b.title ? -1 : 1));
  const header = table(
    ['', ''],
    [
      ['apiVersion', info.apiVersions.map((version) => `\`${version}\``).join(' or ')],
      ['plural', `\`${info.plural}\``],
      ['short names', info.shortNames.map((name) => `\`${name}\``).join(', ') || 'none'],
      ['JSON Schema', `[${info.kind}.json](../schemas/${info.kind}.json)`],
    ],
  );
  const section = (block: Block, heading: string) => sectionOf(block, heading, reach.get(block.title) ?? 'yes');
  return page([
    `# ${info.kind}`,
    info.description,
    header,
    section(own!, info.body ? '## Fields beside `metadata`' : '## `spec`'),
    ...shared.map((block) => section(block, `## ${block.title}`)),
  ]);
}

function sectionOf(block: Block, heading: string, reach: Support): string {
  const rows = block.fields.map(({ path, schema, support }) => [
    `\`${path}\``,
    typeName(schema, (title) => `[${title}](#${title.toLowerCase()})`),
    schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``,
    SUPPORT_WORDS[worse(reach, support)],
    schema.description ?? '',
  ]);
  const rules = block.rules.map(({ at, text }) => `- ${at === '' ? '' : `\`${at}\`: `}${text}`);
  const beside = block.beside.map((key) => `\`${key}\``).join(', ');
  return [
    heading,
    rows.length > 0 ? table(['Field', 'Type', 'Default', 'Supported', 'What it does'], rows) : 'No fields.',
    rules.length > 0 && rules.join('\n'),
    beside !== '' && `Also read beside \`options\`: ${beside}.`,
  ]
    .filter((part) => part !== false)
    .join('\n\n');
}

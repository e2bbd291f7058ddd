import type { Support } from '../../packages/core/src/schema/field.ts';
import { better, blocksOf, kinds, reachOf, worse } from './model.ts';
import { SUPPORT_WORDS, page, table } from './table.ts';

type Totals = Record<Support, number>;

/** Field by field what is supported, with the totals of each kind and of all. */
export function supportPage(): string {
  const all = new Map<string, Map<string, Support>>();
  const additions = new Set<string>();
  const instead = new Map<string, string>();
  const insteadOfBlock = new Map<string, string>();
  const perKind = kinds.map((info) => {
    const blocks = blocksOf(info);
    const reach = reachOf(blocks);
    const totals: Totals = { yes: 0, kubernetes: 0, notYet: 0, unsupported: 0, rejected: 0 };
    for (const block of blocks.values()) {
      const fields = all.get(block.title) ?? new Map<string, Support>();
      all.set(block.title, fields);
      for (const { path, support, schema } of block.fields) {
        if (schema['x-addition']) additions.add(`${block.title} ${path}`);
        if (schema['x-instead']) {
          instead.set(`${block.title} ${path}`, schema['x-instead']);
          const inner = schema['x-ref'] ?? schema.title;
          if (inner !== undefined) insteadOfBlock.set(inner, schema['x-instead']);
        }
        const level = worse(reach.get(block.title) ?? 'yes', support);
        totals[level]++;
        fields.set(path, better(level, fields.get(path) ?? level));
      }
    }
    return { kind: info.kind, totals };
  });
  const titles = [...all.keys()].toSorted();
  return page([
    '# What is supported',
    'A field for **Kubernetes** has an effect only if the resources come from Kubernetes; otherwise it is accepted with a warning. ' +
      'A field that is not supported **yet** is accepted, has no effect, and gives its resource a warning that names it. **No** means the same for a field that is not planned. ' +
      'A security field that does not work is **rejected**: a resource that sets it is rejected, so that a policy is never silently missing. ' +
      'What lies below such a field counts as it does. Fields of a block that several kinds share are counted for each of them, and once in the last line.',
    '## Totals',
    totalsTable(perKind, all),
    '## Field by field',
    ...titles.map((title) => {
      const rows = [...all.get(title)!].map(([path, level]) => [
        `\`${path}\``,
        [
          SUPPORT_WORDS[level],
          additions.has(`${title} ${path}`) ? ', an addition of this gateway' : '',
          instead.has(`${title} ${path}`) ? `: ${instead.get(`${title} ${path}`)}` : '',
        ].join(''),
      ]);
      const reason = insteadOfBlock.get(title);
      const isUnsupported = [...all.get(title)!.values()].every(
        (level) => level === 'notYet' || level === 'unsupported',
      );
      return [
        `### ${title}`,
        ...(reason !== undefined && isUnsupported ? [`No field has an effect: ${reason}.`] : []),
        rows.length > 0 ? table(['Field', 'Supported'], rows) : 'No fields.',
      ].join('\n\n');
    }),
  ]);
}

function totalsTable(
  perKind: readonly { kind: string; totals: Totals }[],
  all: ReadonlyMap<string, ReadonlyMap<string, Support>>,
): string {
  const overall: Totals = { yes: 0, kubernetes: 0, notYet: 0, unsupported: 0, rejected: 0 };
  for (const fields of all.values()) for (const level of fields.values()) overall[level]++;
  const row = (name: string, { yes, kubernetes, notYet, unsupported, rejected }: Totals) => [
    name,
    ...[yes + kubernetes + notYet + unsupported + rejected, yes, kubernetes, notYet, unsupported, rejected].map(String),
  ];
  return table(
    ['Kind', 'Fields', 'Supported', 'Kubernetes', 'Not yet', 'No', 'Rejected'],
    [
      ...perKind.map(({ kind, totals }) => row(`[${kind}](resources/${kind.toLowerCase()}.md)`, totals)),
      row('**All, each once**', overall),
    ],
  );
}

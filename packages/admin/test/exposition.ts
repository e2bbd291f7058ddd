const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?\d+)?)$/;
const LABELS = /^(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,|$))*$/;
const SUFFIX = /_(?:bucket|sum|count)$/;

/** What is wrong with a text in Prometheus' exposition format: nothing when the list is empty. */
export function expositionProblems(text: string): string[] {
  const problems: string[] = [];
  const types = new Map<string, string>();
  const seen = new Set<string>();
  let family = '';
  if (!text.endsWith('\n')) problems.push('no newline at the end');
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, kind, metric = '', type = ''] = /^# (TYPE|HELP) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (types.has(metric)) problems.push(`type twice: ${metric}`);
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(type)) problems.push(`bad type: ${line}`);
      types.set(metric, type);
      family = metric;
    }
    if (kind || line.startsWith('#')) continue;
    const [, name = '', labels = ''] = SAMPLE.exec(line) ?? [];
    if (!name || !LABELS.test(labels)) problems.push(`bad sample: ${line}`);
    const base = types.get(name.replace(SUFFIX, '')) === 'histogram' ? name.replace(SUFFIX, '') : name;
    if (base !== family) problems.push(`outside its family: ${line}`);
    if (seen.has(`${name}{${labels}}`)) problems.push(`twice: ${line}`);
    seen.add(`${name}{${labels}}`);
  }
  return problems;
}

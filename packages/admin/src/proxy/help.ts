import type { Endpoint, Parameter } from './endpoint.ts';

/** `/help`: every endpoint with its parameters. */
export function help(others: readonly Endpoint[]): Endpoint {
  const endpoint: Endpoint = {
    paths: ['/help'],
    help: 'this list',
    answer: () => ({ body: helpText([...others, endpoint]) }),
  };
  return endpoint;
}

/** The text of `/help`; its first line is `admin commands are:`. */
export function helpText(endpoints: readonly Endpoint[]): string {
  const sorted = [...endpoints].sort((a, b) => (a.paths[0] < b.paths[0] ? -1 : 1));
  return ['admin commands are:', '  /: home page', ...sorted.flatMap(linesOf)].map((line) => `${line}\n`).join('');
}

function linesOf({ paths, help: text, changes, parameters = [] }: Endpoint): string[] {
  const post = changes?.(new URLSearchParams()) ? ' (POST)' : '';
  return [`  ${paths[0]}${post}: ${text}`, ...parameters.map((parameter) => `      ${describe(parameter)}`)];
}

function describe({ name, help: text, values }: Parameter): string {
  return `${name}: ${text}${values ? `; one of ${values.join(', ')}` : ''}`;
}

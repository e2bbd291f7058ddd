import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PARSE_CODES, SCHEMA_CODES, SEMANTIC_CODES } from '../../packages/core/src/resource/problem-codes.ts';
import { page, table } from './table.ts';

interface ErrorTable {
  readonly ERROR_CODES: Readonly<Record<string, { readonly status: number; readonly message: string }>>;
}

/** Every error code of every package, and every code of a problem in a resource. */
export async function errorsPage(root: string): Promise<string> {
  const tables = await Promise.all(
    ['packages', 'apps'].flatMap((folder) =>
      readdirSync(join(root, folder))
        .toSorted()
        .map((name) => errorsOf(root, `${folder}/${name}`)),
    ),
  );
  const issues = (codes: Readonly<Record<string, string>>) =>
    table(
      ['Code', 'Meaning'],
      Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
  return page([
    '# Errors',
    'Errors are `GatewayError` with a `code` that is never renamed or reused. `status` is the HTTP status it is answered with; ' +
      'for the command line it is the exit status.',
    ...tables.filter((part) => part !== undefined),
    '## Problems of resources',
    'Each has a code, the place it is at, and what helps. They are printed as ' +
      '`file:line:column  Kind namespace/name  field.path  what is wrong  (hint)`.',
    `### Reading a document\n\n${issues(PARSE_CODES)}`,
    `### The schema of a kind\n\n${issues(SCHEMA_CODES)}`,
    `### What a schema cannot say\n\n${issues(SEMANTIC_CODES)}`,
  ]);
}

async function errorsOf(root: string, folder: string): Promise<string | undefined> {
  const file = join(root, folder, 'src', 'error-codes.ts');
  if (!existsSync(file)) return undefined;
  const { ERROR_CODES } = (await import(pathToFileURL(file).href)) as ErrorTable;
  const rows = Object.entries(ERROR_CODES).map(([code, { status, message }]) => [
    `\`${code}\``,
    String(status),
    message,
  ]);
  return `## \`${folder}\`\n\n${table(['Code', 'Status', 'Message'], rows)}`;
}

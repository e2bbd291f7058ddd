// Runs every benchmark beside this file, one after the other, each in a process of its own.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const given = process.argv.slice(2);
/** The first flag and everything after it are those of the benchmarks. */
const flags = given.slice(given.findIndex((each) => each.startsWith('--')) >>> 0);
const wanted = given.slice(0, given.length - flags.length);
const all = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.bench.ts'));
/** A whole name stands for itself alone, so that `graphql` is not `graphql-memory` as well. */
const isMeant = (name: string, part: string): boolean =>
  all.includes(`${part}.bench.ts`) ? name === `${part}.bench.ts` : name.includes(part);
const files = all.filter((name) => wanted.length === 0 || wanted.some((part) => isMeant(name, part))).sort();
let failed = 0;
for (const file of files) {
  console.log(`\n${file}`);
  const args = ['--expose-gc', '--conditions=source', join(import.meta.dirname, file), ...flags];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) failed++;
}
if (failed > 0) console.log(`\n${failed} of ${files.length} failed`);
process.exitCode = failed > 0 ? 1 : 0;

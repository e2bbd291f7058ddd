// Charges distinct keys in a process of its own, and prints what it needed: `node memory-flood.ts ALGORITHM KEYS`.
import { readFileSync } from 'node:fs';
import { createMemoryStore, type Algorithm } from '@edge-gateway/rate-limit';
import { UNIT_MS } from '../../src/rules/limit.ts';

const [algorithm, amount] = process.argv.slice(2) as [Algorithm, string];
const keys = Number(amount);
const limit = { requests: 5, unit: 'YEAR', unitMs: UNIT_MS.YEAR, algorithm, burst: 5 } as const;
const group = { id: 'custom||remote_address' };
let evicted = 0;
const store = createMemoryStore({ onEvict: (keys) => (evicted += keys) });

function charge(i: number): number {
  const values = `2001:db8::${i.toString(16)}`;
  return store.count([{ key: `${group.id}|${values}`, group, values, limit, cost: 1 }])[0]!.remaining;
}

for (let i = 0; i < keys; i++) charge(i);
let wrong = 0;
for (let i = keys - 100_000; i < keys; i++) if (charge(i) !== 3) wrong++;
// Unlike `maxRSS`, it does not include what the parent process needed.
const peakKb = /^VmHWM:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
const rssMb = Math.round(Number(peakKb) / 1024);
console.log(JSON.stringify({ size: store.size, evicted, wrong, rssMb }));

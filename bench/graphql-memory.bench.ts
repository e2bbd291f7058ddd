import { heapAfter, mockedAnswerer } from '../packages/graphql/test/memory-run.ts';

// The heap that a GraphQL API keeps over a million queries of ten thousand shapes.
const QUERIES = 1_000_000;
const STEP = 200_000;
const SHAPES = 10_000;

const answerer = mockedAnswerer();
for (let from = 0; from < QUERIES; from += STEP) {
  const startedAt = performance.now();
  const heap = await heapAfter(answerer, { from, to: from + STEP, shapes: SHAPES });
  const seconds = (performance.now() - startedAt) / 1000;
  const asked = (from + STEP).toLocaleString('en');
  console.log(`  ${asked.padStart(9)} queries  ${(heap / 1e6).toFixed(1).padStart(6)} MB  ${seconds.toFixed(0)} s`);
}

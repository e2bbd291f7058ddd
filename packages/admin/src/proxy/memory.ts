import { json } from '../http/answer.ts';
import { getHeapStatistics } from 'node:v8';
import type { EndpointFactory } from './endpoint.ts';

/** `/memory`: bytes, as strings. `pageheap_free` is heap that V8 holds without using it. */
export const memory: EndpointFactory = () => ({
  paths: ['/memory'],
  help: 'memory in bytes',
  answer: () => {
    const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
    const figures = {
      allocated: heapUsed + external,
      heap_size: heapTotal + external,
      pageheap_unmapped: Math.max(0, getHeapStatistics().heap_size_limit - heapTotal),
      pageheap_free: heapTotal - heapUsed,
      total_thread_cache: 0,
      total_physical_bytes: rss,
    };
    return json(Object.fromEntries(Object.entries(figures).map(([name, bytes]) => [name, String(bytes)])));
  },
});

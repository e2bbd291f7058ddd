export { transcoderChecks } from './transcoder-checks.ts';
export { transcoderFiles } from './transcoder-files.ts';

import '@edge-gateway/core/supported-node';
export { transcoderChecks } from './transcoder-checks.ts';
export { transcoderFiles } from './transcoder-files.ts';

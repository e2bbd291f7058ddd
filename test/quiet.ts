import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { libraryLoggers } from '@edge-gateway/core';

// Tests provoke failures by the hundred; those that look at the default log turn it on.
libraryLoggers.setLevel('off');

// Programs that tests start must not leave files in the home directory.
const state = mkdtempSync(join(tmpdir(), 'state-'));
process.env['XDG_STATE_HOME'] = state;
// The code of programs is compiled once; coverage of cached code would be less exact.
if (process.env['NODE_V8_COVERAGE'] === undefined) process.env['NODE_COMPILE_CACHE'] ??= join(state, 'compile-cache');
else process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';
process.on('exit', () => rmSync(state, { recursive: true, force: true }));

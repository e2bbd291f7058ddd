import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicySource } from '@edge-gateway/core';
import { configError } from '../error-codes.ts';
import { readBundle, type Bundle } from './bundle.ts';

const COMPILE_TIMEOUT_MS = 30_000;
const MAX_MESSAGE = 1000;
/** The rule that the query becomes. */
const PACKAGE = 'edge_gateway_query';
const RULE = 'decision';
/** A query that names a rule, which a bundle may have as its entrypoint. */
const RULE_QUERY = /^data((?:\.[A-Za-z_]\w*)+)(?:\s*==\s*true)?$/;
/** Errors of Rego in the syntax before version 1. */
const OLD_SYNTAX = /`(?:if|contains)` keyword is required/;

/** A policy that {@link PolicyRunner} evaluates. */
export interface CompiledPolicy extends Bundle {
  /** The rule to evaluate, e.g. `pets/allow`. */
  readonly entrypoint: string;
  /** True: the result is the only element of the list that the rule returns. */
  readonly isList?: true;
}

/** Modules, or one compiled bundle, and the query about them. */
export interface PolicyText {
  readonly sources: readonly PolicySource[];
  readonly query: string;
}

/**
 * Compiles a policy: modules with the program `opa`, by its name or path; a compiled bundle needs no program. Modules may be written in the syntax of
 * Rego 1 or in the older one. Rejects with `ERR_EXTAUTH_CONFIG` and the reason.
 */
export async function compilePolicy({ sources, query }: PolicyText, program = 'opa'): Promise<CompiledPolicy> {
  const bundle = sources.find(({ binary }) => binary !== undefined);
  if (!bundle) return compileModules({ sources, query }, program);
  if (sources.length > 1) throw configError(`${bundle.name}: a compiled bundle must be the only module`);
  const [, path] = RULE_QUERY.exec(query.trim()) ?? [];
  if (path === undefined)
    throw configError(`the query of a compiled bundle must be the name of an entrypoint, e.g. data.pets.allow`);
  try {
    const entrypoint = path.slice(1).replaceAll('.', '/');
    return { ...readBundle(Buffer.from(bundle.binary!, 'base64')), entrypoint };
  } catch (cause) {
    throw configError(`${bundle.name}: ${(cause as Error).message}`, cause);
  }
}

async function compileModules({ sources, query }: PolicyText, program: string): Promise<CompiledPolicy> {
  const directory = await mkdtemp(join(tmpdir(), 'edge-gateway-opa-'));
  try {
    const files = sources.map(({ name }, i) => `${i}-${name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 100)}.rego`);
    await Promise.all(sources.map(({ text = '' }, i) => writeFile(join(directory, files[i]!), text)));
    // As the element of a list: an assignment, or a second expression, would be true whatever the rules say.
    const rule = `package ${PACKAGE}\n\n${RULE} := [${query.trim().replaceAll(/\s+/g, ' ')}]\n`;
    await writeFile(join(directory, 'query.rego'), rule);
    await build(program, directory, [...files, 'query.rego']);
    const { wasm, data } = readBundle(await readFile(join(directory, 'bundle.tar.gz')));
    return { wasm, entrypoint: `${PACKAGE}/${RULE}`, isList: true, ...(data && { data }) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function build(program: string, directory: string, files: readonly string[]): Promise<void> {
  const args = ['build', '-t', 'wasm', '-e', `${PACKAGE}/${RULE}`, '-o', 'bundle.tar.gz', ...files];
  const problem = await run(program, args, directory);
  if (problem === undefined) return;
  const older = await run(program, [...args, '--v0-compatible'], directory);
  if (older !== undefined) throw configError(OLD_SYNTAX.test(problem) ? older : problem);
}

/** Resolves with what the program rejects. Rejects if it cannot be started. */
function run(program: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  const env = { PATH: process.env['PATH'] };
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, env, timeout: COMPILE_TIMEOUT_MS }, (error, output, errors) => {
      if (!error) return resolve(undefined);
      if (error.code === 'ENOENT' || error.code === 'EACCES') {
        const what = `Rego modules need the program opa, and ${JSON.stringify(program)} cannot be started`;
        return reject(configError(`${what}: install it, or use a bundle made by opa build -t wasm`, error));
      }
      if (error.killed) return reject(configError(`opa did not compile the modules within ${COMPILE_TIMEOUT_MS} ms`));
      const message = (errors || output).trim().replace(/^error: (?:load error: )?/, '');
      resolve(message.slice(0, MAX_MESSAGE) || error.message);
    });
  });
}

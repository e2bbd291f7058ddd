import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createPages, readRegularFile, type GatewayError, type Pages } from '@edge-gateway/core';
import { gatewayError } from '../error-codes.ts';

/** Largest template, in bytes. */
const MAX_BYTES = 262_144;
/** Valid names of templates. `4xx` and `5xx` match every status of their class. */
const NAME = /^(?:[45]\d\d|4xx|5xx|error|login|logged-in|log-out|logged-out)$/;

/**
 * Creates the pages from the templates `NAME.html` of a directory. Throws `ERR_GATEWAY_ERROR_PAGES` for a directory that cannot be read, for
 * a name that no page has, and for a template with an unknown placeholder.
 */
export function readErrorPages(directory: string): Pages {
  const templates = readErrorTemplates(directory);
  try {
    return createPages(templates);
  } catch (error) {
    throw invalid(join(directory, (error as Error).message));
  }
}

/** Returns the templates of a directory by name; {@link readErrorPages} checks their content. */
export function readErrorTemplates(directory: string): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  for (const file of filesOf(directory)) {
    const name = basename(file, '.html');
    if (!NAME.test(name))
      throw invalid(`${join(directory, file)}: unknown page name: use 404.html, 4xx.html, error.html, login.html …`);
    const text = readTemplate(join(directory, file));
    templates.set(name, text);
  }
  if (templates.size === 0) throw invalid(`${directory}: no templates found: add at least one, such as error.html`);
  return templates;
}

function readTemplate(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw invalid(`${path}: ${code === undefined ? `it ${message}` : `cannot be read: ${code}`}`);
  }
}

function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory).filter((file) => file.endsWith('.html'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalid(code === 'ENOENT' ? `${directory} does not exist` : `${directory} cannot be read: ${code}`);
  }
}

function invalid(message: string): GatewayError {
  return gatewayError('ERR_GATEWAY_ERROR_PAGES', `--error-pages: ${message}`);
}

import { readFileSync } from 'node:fs';

/** The build of a program. */
export interface BuildInfo {
  readonly version: string;
  /** Abbreviated hash of the commit that it was packed from; missing if it runs from its repository. */
  readonly commit?: string;
}

/**
 * Returns the build of a package from `package.json` and `build.json` in its root directory. `npm run pack` writes the latter into
 * tarballs.
 *
 * @example
 * const { version } = readBuildInfo(new URL('../', import.meta.url));
 */
export function readBuildInfo(root: URL): BuildInfo {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  try {
    const { commit } = JSON.parse(readFileSync(new URL('build.json', root), 'utf8')) as { commit: string };
    return { version, commit };
  } catch {
    return { version };
  }
}

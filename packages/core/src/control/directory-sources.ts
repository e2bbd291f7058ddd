import type { Logger } from '../observe/logger.ts';
import type { ObservedProblem } from '../resource/stored.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { directorySource, isDirectory } from '../source/directory.ts';
import type { Source, SourceChange, WrittenResource } from '../source/source.ts';
import {
  planDirectories,
  readableThere,
  type DirectoryPlan,
  type DirectoryScope,
  type SettingsDirectory,
} from './settings-directories.ts';

/** Interval between checks whether a missing directory exists, in milliseconds. */
const RETRY_MS = 1000;

/** The directories that the Settings name. */
export interface DirectorySources {
  /** What is wrong with directories of the Settings. */
  readonly problems: readonly ObservedProblem[];
  /**
   * Reads the directories of the Settings, and no others. Returns true while new ones are being read: `onChange` then follows with their
   * content, without that of the previous ones.
   */
  follow(spec: SettingsSpec): boolean;
  refreshEvery(ms: number): void;
  /** Resolves when new directories have been read. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface DirectorySourceOptions extends DirectoryScope {
  /** Whether changes are followed. */
  readonly watch: boolean;
  readonly log: Logger;
  readonly onChange: (change: SourceChange) => void;
}

interface Opened {
  readonly source: Source;
  readonly units: Set<string>;
}

type Change = Map<string, readonly WrittenResource[]>;

/** Creates the sources of the directories that the Settings name; none is read before {@link DirectorySources.follow}. */
export function createDirectorySources(options: DirectorySourceOptions): DirectorySources {
  const { watch, kinds, log, onChange } = options;
  const opened = new Map<string, Opened>();
  /** With the reason. */
  const missing = new Map<string, { readonly directory: SettingsDirectory; readonly reason: string }>();
  let plan: DirectoryPlan = { directories: [], problems: [] };
  let problems: readonly ObservedProblem[] = [];
  let followed: SettingsSpec | undefined;
  let refreshMs: number | undefined;
  let work: Promise<void> | undefined;
  let isClosed = false;
  /** Content that is collected while directories are read. */
  let collected: Change | undefined;

  /** Opens and closes directories until they are those of the newest plan. */
  async function switchDirectories(): Promise<void> {
    collected = new Map();
    // The caller must know of the work before it is done.
    await Promise.resolve();
    for (;;) {
      const wanted = new Map(plan.directories.map((directory) => [keyOf(directory), directory]));
      const outdated = [...opened.keys()].find((key) => !wanted.has(key));
      const next = [...wanted].find(([key]) => !opened.has(key) && !missing.has(key));
      if (isClosed) return;
      if (outdated !== undefined) await drop(outdated, collected);
      else if (next) await open(...next);
      else break;
    }
    for (const key of missing.keys()) if (!isPlanned(key)) missing.delete(key);
    const change = collected;
    collected = undefined;
    work = undefined;
    problems = problemsNow();
    onChange(change);
  }

  async function drop(key: string, change: Change): Promise<void> {
    const { source, units } = opened.get(key)!;
    opened.delete(key);
    await source.close();
    const isElsewhere = (unit: string): boolean => [...opened.values()].some((other) => other.units.has(unit));
    for (const unit of units) if (!isElsewhere(unit)) change.set(unit, []);
  }

  async function open(key: string, directory: SettingsDirectory): Promise<void> {
    const units = new Set<string>();
    const source = directorySource(directory.path, { watch, kinds, log });
    try {
      await source.start((change) => {
        const content: Change = new Map();
        for (const [unit, written] of change) {
          if (written.length > 0) units.add(unit);
          else units.delete(unit);
          content.set(unit, readableThere(written, directory));
        }
        if (collected) for (const [unit, written] of content) collected.set(unit, written);
        else onChange(content);
      });
    } catch (error) {
      missing.set(key, { directory, reason: (error as Error).message });
      await source.close();
      return;
    }
    if (refreshMs !== undefined) source.refreshEvery?.(refreshMs);
    opened.set(key, { source, units });
  }

  const isPlanned = (key: string): boolean => plan.directories.some((directory) => keyOf(directory) === key);

  function problemsNow(): readonly ObservedProblem[] {
    const absent = Array.from(missing.values(), ({ directory: { field: path }, reason: message }): ObservedProblem => ({
      severity: 'warning',
      path,
      message,
    }));
    return [...plan.problems, ...absent];
  }

  function isSettled(): boolean {
    const known = [...opened.keys(), ...missing.keys()];
    const isOpen = plan.directories.every((directory) => known.includes(keyOf(directory)));
    return isOpen && known.every(isPlanned) && JSON.stringify(problemsNow()) === JSON.stringify(problems);
  }

  const retry = watch ? setInterval(openFound, RETRY_MS) : undefined;
  retry?.unref();
  function openFound(): void {
    const found = [...missing].filter(([, { directory }]) => isDirectory(directory.path));
    for (const [key] of found) missing.delete(key);
    if (found.length > 0) work ??= switchDirectories();
  }

  return {
    get problems() {
      return problems;
    },
    follow(spec) {
      if (spec !== followed) plan = planDirectories(spec, options);
      followed = spec;
      if (isClosed) return false;
      if (work) return true;
      if (isSettled()) return false;
      work = switchDirectories();
      return true;
    },
    refreshEvery(ms) {
      refreshMs = ms;
      for (const { source } of opened.values()) source.refreshEvery?.(ms);
    },
    async settled() {
      await work;
    },
    async close() {
      isClosed = true;
      clearInterval(retry);
      await work;
      await Promise.all(Array.from(opened.values(), ({ source }) => source.close()));
    },
  };
}

/** A directory that is read for other kinds is another one. */
function keyOf({ path, kinds }: SettingsDirectory): string {
  return [path, ...kinds].join('\n');
}

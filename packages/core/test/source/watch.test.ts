import { EventEmitter } from 'node:events';
import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { createFolderWatch, type FolderWatch } from '../../src/source/watch.ts';

describe('a watch of folders', () => {
  let root: string;
  let watch: FolderWatch;
  let calls: number;
  const changed = new Set<string>();
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'watch-'));
    changed.clear();
    calls = 0;
    watch = createFolderWatch(
      {
        changed(paths) {
          calls++;
          for (const path of paths) changed.add(path);
        },
        unknown: () => void calls++,
      },
      silentLoggers.get('config'),
    );
    for (const name of ['a', 'b']) mkdirSync(join(root, name));
  });
  afterEach(() => {
    watch.close();
    rmSync(root, { recursive: true });
  });
  const at = (...names: string[]): string => join(root, ...names);
  /** Watches these folders only. */
  function follow(...folders: string[]): void {
    watch.begin();
    for (const folder of folders) watch.add(at(folder), folder);
    watch.finish();
  }
  /** Waits until a change of a folder is reported: changes before it were reported before. */
  async function reported(folder: string): Promise<void> {
    const path = at(folder, `last-${calls}`);
    writeFileSync(path, '');
    await until(() => changed.has(path));
  }

  it('reports changes of its folders, and none of a folder that it left', async () => {
    follow('a', 'b');
    writeFileSync(at('b', 'one'), '');
    await reported('a');
    await until(() => changed.has(at('b', 'one')));
    follow('a');
    writeFileSync(at('b', 'two'), '');
    await reported('a');
    await new Promise(setImmediate);
    expect(changed).to.not.include(at('b', 'two'));
  });

  it('reports nothing after it was closed, not even what it received before', async () => {
    const { watch: watchFolder } = fs;
    let received: ((event: string, name: string) => void) | undefined;
    fs.watch = ((_folder: string, _options: object, listener: typeof received) => {
      received = listener;
      return Object.assign(new EventEmitter(), { close() {} });
    }) as never;
    syncBuiltinESMExports();
    try {
      follow('a');
    } finally {
      fs.watch = watchFolder;
      syncBuiltinESMExports();
    }
    received!('change', 'one');
    await new Promise(setImmediate);
    expect([...changed]).to.deep.equal([at('a', 'one')]);
    received!('change', 'two');
    watch.close();
    await new Promise(setImmediate);
    expect(calls).to.equal(1);
  });
});

import { sep } from 'node:path';
import { expect } from 'chai';
import { restoringChanges } from '../../../src/control/accepted/restore.ts';
import { keyOf } from '../../../src/resource/resource.ts';
import type { SourceChange, WrittenResource } from '../../../src/source/source.ts';
import type { Validated } from '../../../src/validate/validate.ts';

const place = (name: string, file: string) => ({
  key: keyOf('Upstream', { namespace: 'gw-system', name }),
  origin: { file, line: 1, column: 1 },
});
const saved = (name: string, file = name) => ({
  ...place(name, file),
  apiVersion: 'gw.vendor.io/v1',
  metadata: { namespace: 'gw-system', name },
  spec: {},
});
const written = (unit: string, value: unknown, issues: WrittenResource['issues'] = []): WrittenResource => {
  const origin = { file: unit, line: 1, column: 1 };
  return { unit, origin, value, issues, locate: () => origin };
};
const listed = (...all: WrittenResource[]): SourceChange => new Map(all.map((each) => [each.unit, [each]]));

/** The names in each unit of each change; the codes of documents that are rejected. */
const shown = (changes: readonly SourceChange[]) =>
  changes.map((change) =>
    Object.fromEntries(
      [...change].map(([unit, documents]) => [
        unit,
        documents.map(({ value, issues }) => (value as any)?.metadata.name ?? issues[0]?.code),
      ]),
    ),
  );
const restored = (records: readonly object[], now: SourceChange = new Map()) => shown(restoringChanges(records, now));

describe('the changes that restore accepted versions', () => {
  it('lead to the saved state, and from there to what the source contains', () => {
    const now = listed(written('a', saved('a')));
    expect(restored([{ put: [saved('a'), saved('b')], end: true }], now)).to.deep.equal([
      { a: ['a'], b: ['b'] },
      { b: [], a: ['a'] },
    ]);
  });

  it('use a document of the source as it is if its content was saved, and validated', () => {
    const same = written('a', { ...saved('a'), kind: 'Upstream' });
    const other = written('b', { ...saved('b'), kind: 'Upstream' });
    const moved = written('elsewhere', { ...saved('c'), kind: 'Upstream' });
    const resourceOf = (name: string, spec: object): Validated => {
      const { apiVersion, metadata, origin } = saved(name);
      return { resource: { apiVersion, kind: 'Upstream', metadata, spec, origin }, issues: [] };
    };
    const validated = new WeakMap([
      [same, resourceOf('a', {})],
      [other, resourceOf('b', { useHttp2: true })],
      [moved, resourceOf('c', {})],
    ]);
    const records = [{ put: [saved('a'), saved('b'), saved('c'), saved('gone')], end: true }];
    const now = listed(same, other, moved);
    const [first] = restoringChanges(records, now, { validated });
    expect(first!.get('a')![0]).to.equal(same);
    for (const unit of ['b', 'c', 'gone']) expect(first!.get(unit)![0]!.value).to.deep.include({ spec: {} });
    expect(restoringChanges(records, now)[0]!.get('a')![0]).to.not.equal(same);
  });

  it('end with the last complete state', () => {
    const records = [{ put: [saved('a')], end: true }, { put: [saved('b')] }, { removed: [saved('a').key] }];
    expect(restored(records)).to.deep.equal([{ a: ['a'] }, { a: [] }]);
  });

  it('are none without a complete state', () => {
    expect(restored([{ put: [saved('a')] }])).to.deep.equal([{}]);
  });

  it('are one for each state that is kept', () => {
    const records = [{ put: [saved('a')], end: true }, { keep: true }, { removed: [saved('a').key], end: true }];
    expect(restored(records)).to.deep.equal([{ a: ['a'] }, { a: [] }, { a: [] }]);
  });

  it('remove a resource from its unit when it moves to another', () => {
    const records = [
      { put: [saved('a', 'x'), saved('b', 'x')], end: true },
      { keep: true },
      { put: [saved('a', 'y')], end: true },
    ];
    expect(restored(records).slice(0, 2)).to.deep.equal([{ x: ['a', 'b'] }, { x: ['b'], y: ['a'] }]);
  });

  it('keep the resources below a folder that cannot be read now', () => {
    const { origin } = place('none', 'folder');
    const unreadable = { code: 'UNREADABLE', severity: 'error', path: [], message: 'EACCES', origin } as const;
    const files = [`folder${sep}a`, `folder${sep}sub${sep}b`, `folders${sep}c`];
    const put = files.map((file, i) => saved(`r${i}`, file));
    const changes = restored([{ put, end: true }], listed(written('folder', undefined, [unreadable])));
    expect(changes[1]).to.deep.equal({ [files[2]!]: [], folder: ['UNREADABLE'] });
  });

  it('take what was not saved from the source, and reject it if it is gone', () => {
    const omitted = [place('a', 'a'), place('b', 'b')];
    const [first] = restored(
      [{ omitted, end: true }],
      listed(written('a', { kind: 'Upstream', metadata: { name: 'a' } })),
    );
    expect(first).to.deep.equal({ a: ['a'], b: ['UNREADABLE'] });
  });

  it('reject what was rejected, also if the source contains it now', () => {
    const now = listed(written('a', { kind: 'Upstream', metadata: { name: 'a' } }));
    expect(restored([{ rejected: [place('a', 'a')], end: true }], now)[0]).to.deep.equal({ a: ['UNREADABLE'] });
  });
});

import { ExactNumber } from '@edge-gateway/core';
import { expect } from 'chai';
import { maskRecord } from '../../src/dlp/masked-record.ts';
import { recordOf } from '../records.ts';

const mask = { maskNamed: (name: string, text: string) => (name === 'x-card' ? text.replaceAll(/\d/g, 'X') : text) };

describe('masked record', () => {
  it('masks headers, trailers and metadata, and leaves the rest alone', () => {
    const record = recordOf({
      headers: ['x-card', '41', 'x-other', '42'],
      responseHeaders: ['x-card', '43'],
      responseTrailers: ['x-card', '44', 'x-other', '45'],
      metadata: new Map([
        ['ns', { 'x-card': 46, other: ['47'], id: new ExactNumber('9007199254740993') }],
        ['exact', { 'x-card': new ExactNumber('9007199254740993') }],
      ]),
    });
    const { head, result, metadata, connection, route } = maskRecord(record, mask as never);
    expect(head.headers).to.deep.equal(['x-card', 'XX', 'x-other', '42']);
    expect(result.responseHeaders).to.deep.equal(['x-card', 'XX']);
    expect(result.responseTrailers).to.deep.equal(['x-card', 'XX', 'x-other', '45']);
    expect(metadata.get('ns')).to.deep.equal({
      'x-card': 'XX',
      other: ['47'],
      id: new ExactNumber('9007199254740993'),
    });
    expect(metadata.get('exact')).to.deep.equal({ 'x-card': 'X'.repeat(16) });
    expect([connection, route]).to.deep.equal([record.connection, record.route]);
  });
});

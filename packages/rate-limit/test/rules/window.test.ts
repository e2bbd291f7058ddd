import { expect } from 'chai';
import { windowAt, type Unit } from '@edge-gateway/rate-limit';
import { seeded } from '../random.ts';

const at = (text: string): number => Date.parse(text);

describe('windowAt', () => {
  const cases: readonly [Unit, string, string, string][] = [
    ['SECOND', '2027-03-04T05:06:07.999Z', '2027-03-04T05:06:07Z', '2027-03-04T05:06:08Z'],
    ['MINUTE', '2027-03-04T05:06:07Z', '2027-03-04T05:06:00Z', '2027-03-04T05:07:00Z'],
    ['HOUR', '2027-03-04T05:06:07Z', '2027-03-04T05:00:00Z', '2027-03-04T06:00:00Z'],
    ['DAY', '2027-03-04T05:06:07Z', '2027-03-04T00:00:00Z', '2027-03-05T00:00:00Z'],
    ['WEEK', '2027-03-04T05:06:07Z', '2027-03-01T00:00:00Z', '2027-03-08T00:00:00Z'],
    ['WEEK', '2027-03-01T00:00:00Z', '2027-03-01T00:00:00Z', '2027-03-08T00:00:00Z'],
    ['WEEK', '2027-02-28T23:59:59.999Z', '2027-02-22T00:00:00Z', '2027-03-01T00:00:00Z'],
    ['MONTH', '2027-03-04T05:06:07Z', '2027-03-01T00:00:00Z', '2027-04-01T00:00:00Z'],
    ['MONTH', '2028-02-29T23:59:59Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['MONTH', '2027-12-31T23:59:59Z', '2027-12-01T00:00:00Z', '2028-01-01T00:00:00Z'],
    ['YEAR', '2027-03-04T05:06:07Z', '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z'],
    ['YEAR', '0026-03-04T05:06:07Z', '0026-01-01T00:00:00Z', '0027-01-01T00:00:00Z'],
    ['YEAR', '1969-12-31T23:59:59Z', '1969-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
  ];
  for (const [unit, now, start, end] of cases) {
    it(`is the ${unit} from ${start} at ${now}`, () => {
      expect(windowAt(unit, at(now))).to.deep.equal({ startMs: at(start), endMs: at(end) });
    });
  }

  it('contains its time, and is followed by the next window', () => {
    const random = seeded(7);
    for (const unit of ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const) {
      for (let i = 0; i < 200; i++) {
        const now = at('1960-01-01') + random.integer(4_294_967_295) * 1000 + random.integer(1000);
        const { startMs, endMs } = windowAt(unit, now);
        expect(now).to.be.within(startMs, endMs - 1);
        expect(windowAt(unit, startMs)).to.deep.equal({ startMs, endMs });
        expect(windowAt(unit, endMs).startMs).to.equal(endMs);
      }
    }
  });
});

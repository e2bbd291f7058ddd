import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startProtectedDemo, type ProtectedDemo } from '../browser/protected-demo.ts';
import { Person, type Answered } from './person.ts';
import { startTraffic } from './traffic.ts';

const PEOPLE = 5;
/** Keys are read again at most this often. */
const KEYS_COOL_DOWN_MS = 10_000;
const PAUSE_MS = 50;

describe('the identity provider under traffic', function () {
  this.timeout(120_000);
  let demo: ProtectedDemo;
  const people = Array.from({ length: PEOPLE }, () => new Person('admin@example.com'));
  before(async () => {
    demo = await startProtectedDemo({ withProvider: false });
  });
  after(async () => {
    await Promise.all(people.map((person) => person.close()));
    await demo?.close();
  });

  const account = (): string => `${demo.appUrl}/account`;
  const isPage = ({ status, text }: Answered): boolean => status === 200 && text.includes('admin@example.com');
  const isPublic = ({ status }: Answered): boolean => status === 200;
  const newcomer = async (judge: (answered: Answered) => boolean): Promise<boolean> => {
    const person = new Person('admin@example.com');
    try {
      return judge(await person.visit(account()));
    } finally {
      await person.close();
    }
  };

  it('F8: away at the start: other routes are served, a login is 503, and works when it is there', async () => {
    const traffic = startTraffic('F8', [
      { name: 'public', send: () => people[0]!.send(`${demo.appUrl}/goodbye`), judge: isPublic },
      {
        name: 'login',
        send: () => people[1]!.send(account()),
        judge: ({ status }) => status === 503 || status === 302,
      },
    ]);
    expect(await newcomer(({ status }) => status === 503)).to.equal(true);
    await demo.startProvider();
    await until(() => newcomer(isPage), 'a login');
    for (const [name, { lost }] of await traffic.stop()) expect(lost, name).to.equal(0);
  });

  it('F9: away during the run: those who are logged in go on', async () => {
    for (const person of people) expect(isPage(await person.visit(account()))).to.equal(true);
    const traffic = startTraffic(
      'F9',
      people.map((person) => ({ name: 'sessions', send: () => person.send(account()), judge: isPage })),
    );
    await demo.stopProvider();
    for (let i = 0; i < PEOPLE; i++) {
      const late = new Person('admin@example.com');
      expect((await late.send(account())).status, 'a newcomer').to.be.oneOf([302, 503]);
      await late.close();
    }
    for (const [name, { lost }] of await traffic.stop()) expect(lost, name).to.equal(0);
  });

  it('F11: other keys without overlap: who logs in is served as soon as the keys may be read again', async () => {
    await demo.startProvider();
    const early: number[] = [];
    const giveUp = Date.now() + KEYS_COOL_DOWN_MS * 2;
    while (!(await newcomer((answered) => early.push(answered.status) > 0 && isPage(answered)))) {
      expect(Date.now(), 'logins work').to.be.lessThan(giveUp);
      await wait(PAUSE_MS);
    }
    const later: number[] = [];
    for (let i = 0; i < PEOPLE; i++) await newcomer(({ status }) => later.push(status) > 0);
    const good = later.filter((status) => status === 200).length;
    console.log(
      `      F11: within the cool-down ${early.length - 1} logins refused; then sent ${later.length}, answered ${good}`,
    );
    expect(good).to.equal(PEOPLE);
  });
});

import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startProtectedDemo, type ProtectedDemo } from '../browser/protected-demo.ts';
import { Person, type Answered } from './person.ts';
import { startTraffic } from './traffic.ts';

const PEOPLE = 5;

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
      people.map((person, i) => ({ name: `session ${i}`, send: () => person.send(account()), judge: isPage })),
    );
    await demo.stopProvider();
    await until(() => newcomer(({ status }) => status === 503 || status === 302), 'an answer for newcomers');
    for (const [name, { lost }] of await traffic.stop()) expect(lost, name).to.equal(0);
  });

  it('F11: other keys without overlap: who logs in now is served at once', async () => {
    await demo.startProvider();
    await until(() => newcomer(({ status }) => status !== 503), 'the provider is seen');
    const answers: number[] = [];
    for (let i = 0; i < PEOPLE; i++) {
      await newcomer(({ status }) => answers.push(status) > 0);
    }
    console.log(`      F11: logins ${answers.length}, answered ${answers.filter((each) => each === 200).length}`);
    expect(answers).to.deep.equal(Array.from({ length: PEOPLE }, () => 200));
  });
});

import { expect } from 'chai';
import { optionsKeptByNpm } from '../../src/syntax/npm-options.ts';

const OPTIONS = [
  { flags: '-c, --config <dir>', long: '--config' },
  { flags: '--http-port <port>', long: '--http-port' },
  { flags: '--rate-limit-redis <url>', long: '--rate-limit-redis' },
  { flags: '--kubernetes', long: '--kubernetes' },
  { flags: '--force', long: '--force' },
  { flags: '--proxy <name>', long: '--proxy' },
  { flags: '--client-secret <value>', long: '--client-secret' },
  { flags: '--client-secret-file <file>', long: '--client-secret-file' },
  { flags: '--key <value>', long: '--key' },
  { flags: '-h', long: undefined },
];
const NPM = { npm_config_user_agent: 'npm/11.0.0 node/v24.0.0 linux x64', npm_config_cache: '/tmp' };
const START = { ...NPM, npm_command: 'start', npm_lifecycle_event: 'start' };
const RUN = { ...NPM, npm_command: 'run-script', npm_lifecycle_event: 'gatewayctl' };

describe('optionsKeptByNpm', () => {
  it('says how to write options that npm kept', () => {
    expect(optionsKeptByNpm(OPTIONS, { ...START, npm_config_http_port: '9000' })).to.equal(
      'npm kept --http-port for itself: write -- before the options, as in npm start -- --http-port 9000',
    );
    const both = { ...START, npm_config_config: 'true', npm_config_kubernetes: 'true' };
    expect(optionsKeptByNpm(OPTIONS, both)).to.equal(
      'npm kept --config and --kubernetes for itself: write -- before the options, as in npm start -- --config <dir> --kubernetes',
    );
    expect(optionsKeptByNpm(OPTIONS, { ...RUN, npm_config_config: './a' }, ['check'])).to.contain(
      'as in npm run gatewayctl -- check --config ./a',
    );
  });

  it('says so under each name that versions of npm have for a run', () => {
    const env = { npm_lifecycle_event: 'gatewayctl', npm_config_http_port: '9000', ...NPM };
    for (const command of ['run', 'run-script'])
      expect(optionsKeptByNpm(OPTIONS, { ...env, npm_command: command })).to.contain(
        'npm run gatewayctl -- --http-port',
      );
  });

  it('shows an optional value like a required one', () => {
    const options = [{ flags: '--trace [file]', long: '--trace' }];
    expect(optionsKeptByNpm(options, { ...START, npm_config_trace: 'a.json' })).to.contain('-- --trace a.json');
    expect(optionsKeptByNpm(options, { ...START, npm_config_trace: 'true' })).to.contain('-- --trace [file]');
  });

  it('shows no value that may contain a password', () => {
    const problem = optionsKeptByNpm(OPTIONS, { ...START, npm_config_rate_limit_redis: 'redis://:hunter2@localhost' });
    expect(problem).to.contain('npm start -- --rate-limit-redis <url>').and.not.contain('hunter2');
    const env = { ...RUN, npm_config_client_secret: 'hunter2', npm_config_client_secret_file: 'secret.txt' };
    expect(optionsKeptByNpm(OPTIONS, env, ['create', 'secret', 'oauth'])).to.contain(
      'create secret oauth --client-secret <value> --client-secret-file secret.txt',
    );
  });

  for (const [name, env] of [
    ['npm kept none', START],
    ['the option is one of npm', { ...START, npm_config_force: 'true' }],
    ['the configuration of npm has a proxy', { ...RUN, npm_config_proxy: 'http://proxy.example:3128' }],
    ['the configuration of npm has a client key', { ...RUN, npm_config_key: 'abc' }],
    ['the process was not started by npm', { npm_config_config: 'x' }],
    ['another program than npm started it', { ...START, npm_config_user_agent: 'pnpm/12.0.0', npm_config_config: 'x' }],
    ['npm runs another script', { ...START, npm_command: 'test', npm_config_config: 'x' }],
    ['the value is empty', { ...START, npm_config_config: '' }],
  ] as const)
    it(`returns nothing if ${name}`, () => {
      expect(optionsKeptByNpm(OPTIONS, env)).to.equal(undefined);
    });
});

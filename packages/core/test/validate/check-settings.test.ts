import { expect } from 'chai';
import { formatPath } from '../../src/resource/problem.ts';
import type { SettingsSpec } from '../../src/schema/kind/settings.ts';
import { linesOf, resource } from './written.ts';
import { checkSettings } from '../../src/validate/check-settings.ts';

const problemsOf = (spec: SettingsSpec): string[] =>
  checkSettings(spec, ['spec']).map(({ path, message }) => `${formatPath(path)}: ${message}`);

describe('Settings', () => {
  it('count IPv6 networks of 1 to 128 bits', () => {
    const linesWith = (bits: string): string[] =>
      linesOf(resource('Settings', `{ratelimitServer: {ipv6PrefixLength: ${bits}}}`, 'gw.vendor.io/v1'));
    for (const bits of ['1', '56', '128']) expect(linesWith(bits), bits).to.deep.equal([]);
    for (const bits of ['0', '-1', '129', '64.5', "'64'", '/64'])
      expect(linesWith(bits).join(), bits).to.match(
        /spec\.ratelimitServer\.ipv6PrefixLength  .*(at most|whole number)/,
      );
  });

  for (const [what, spec, problem] of [
    ['a refresh rate of 1s', { refreshRate: '1s' }, undefined],
    [
      'a refresh rate below 1s',
      { refreshRate: '0.999s' },
      'spec.refreshRate: refreshRate 0.999s is below the minimum of 1s',
    ],
    ['the name of all namespaces', { watchNamespaces: ['', 'shop'] }, undefined],
    [
      'a name that no namespace has',
      { watchNamespaces: ['*'] },
      'spec.watchNamespaces[0]: "*" is not the name of a namespace',
    ],
    [
      'a directory of ConfigMaps without a name',
      { directoryArtifactSource: { directory: '' } },
      'spec.directoryArtifactSource.directory: the directory is empty',
    ],
    [
      'a directory of secrets without a name',
      { directorySecretSource: { directory: '' } },
      'spec.directorySecretSource.directory: the directory is empty',
    ],
    [
      'a directory of resources without a name',
      { directoryConfigSource: { directory: '' } },
      'spec.directoryConfigSource.directory: the directory is empty',
    ],
    [
      'one of several directories without a name',
      { secretOptions: { sources: [{ directory: { directory: 'a' } }, { directory: { directory: '' } }] } },
      'spec.secretOptions.sources[1].directory.directory: the directory is empty',
    ],
  ] as readonly (readonly [what: string, spec: SettingsSpec, problem: string | undefined])[])
    it(`${problem === undefined ? 'accept' : 'reject'} ${what}`, () => {
      expect(problemsOf(spec)).to.deep.equal(problem === undefined ? [] : [problem]);
    });

  it('accept labels of Prometheus, except those that are reserved', () => {
    const labelled = (label: string): string[] =>
      problemsOf({
        observabilityOptions: {
          configStatusMetricLabels: {
            'Upstream.v1.gw.vendor.io': { labelToPath: { [label]: '{.metadata.name}' } },
          },
        },
      });
    for (const label of ['name', '_name', 'a_1']) expect(labelled(label), label).to.deep.equal([]);
    for (const label of ['__name', '1a', 'a-b', ''])
      expect(labelled(label).join(), label).to.contain(`"${label}" is not a valid name of a label`);
  });
});

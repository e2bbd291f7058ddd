import { expect } from 'chai';
import { readSettings, type TranslationSettings } from '../../src/translate/translation-settings.ts';
import { Derived } from '../../src/translate/derived.ts';
import { load } from './load.ts';

const read = (spec: object): TranslationSettings => {
  const settings = { apiVersion: 'gw.vendor.io/v1', kind: 'Settings', metadata: { name: 'default' }, spec };
  const { stored } = load([JSON.stringify(settings)]);
  return readSettings({ stored, derived: new Derived() });
};
const server = (name: string) => ({ grpcService: { extProcServerRef: { name, namespace: 'gw-system' } } });

describe('the settings of a translation', () => {
  it('serve what each field of the data plane declares', () => {
    const limits = { descriptors: [{ key: 'a', rateLimit: { unit: 'MINUTE', requestsPerUnit: 1 } }] };
    const { served } = read({
      extProc: server('a'),
      extProcEarly: server('b'),
      extProcLate: server('c'),
      ratelimit: limits,
      ratelimitServer: { denyOnFail: true },
      rbac: { requireRbac: true },
      gw: {
        disableGrpcWeb: true,
        transformationEscapeCharacters: true,
        logTransformationRequestResponseInfo: true,
        jsonErrors: true,
      },
      consoleOptions: { apiExplorerEnabled: false },
    });
    expect(served).to.deep.include({
      extProc: server('a'),
      extProcEarly: server('b'),
      extProcLate: server('c'),
      requireRbac: true,
      disableGrpcWeb: true,
      escapeCharacters: true,
      logTransformations: true,
      hidesApiExplorer: true,
      jsonErrors: true,
    });
    expect(served).to.have.keys(
      'extProc',
      'extProcEarly',
      'extProcLate',
      'ratelimit',
      'ratelimitServer',
      'requireRbac',
      'disableGrpcWeb',
      'escapeCharacters',
      'logTransformations',
      'hidesApiExplorer',
      'jsonErrors',
    );
    expect(read({}).served).to.deep.equal({ requireRbac: false });
  });

  it('have the defaults for zeros and empty texts', () => {
    const policy = { replaceInvalidRoutes: true, invalidRouteResponseCode: 0, invalidRouteResponseBody: '' };
    const { regexMaxProgramSize, invalidRoutes } = read({
      gw: { regexMaxProgramSize: 0, invalidConfigPolicy: policy },
    });
    const defaults = read({});
    expect(regexMaxProgramSize).to.equal(defaults.regexMaxProgramSize).and.to.equal(1024);
    expect(invalidRoutes).to.deep.equal({ ...defaults.invalidRoutes, demoteErrors: true });
    expect(defaults.invalidRoutes).to.deep.equal({
      demoteErrors: false,
      status: 404,
      body: 'The requested resource is not available.',
    });
  });
});

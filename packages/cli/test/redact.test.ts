import { expect } from 'chai';
import { redact } from '../src/redact.ts';

describe('redact', () => {
  it('hides the values of a Secret and keeps the names of its keys', () => {
    const secret = { kind: 'Secret', data: { 'tls.key': 'a2V5', other: 'eA==' }, stringData: { token: 't' } };
    expect(redact([secret])).to.deep.equal([
      {
        kind: 'Secret',
        data: { 'tls.key': '<redacted>', other: '<redacted>' },
        stringData: { token: '<redacted>' },
      },
    ]);
  });

  it('hides the secret fields inside other resources and nothing else', () => {
    const config = {
      kind: 'AuthConfig',
      spec: { users: { ann: { salt: 's', hashedPassword: 'h' } }, clientSecretRef: { name: 'x' } },
    };
    expect(redact(config)).to.deep.equal({
      kind: 'AuthConfig',
      spec: { users: { ann: { salt: '<redacted>', hashedPassword: '<redacted>' } }, clientSecretRef: { name: 'x' } },
    });
  });

  it('hides what an address carries beside the place it names', () => {
    const config = {
      kind: 'AuthConfig',
      spec: { host: 'rediss://u:p@redis:6379', url: 'https://auth.example.com/?key=k' },
    };
    expect(redact(config).spec).to.deep.equal({
      host: 'rediss://<redacted>@redis:6379',
      url: 'https://auth.example.com/?key=<redacted>',
    });
  });
});

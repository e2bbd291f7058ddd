import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../resource/resource.ts';
import type { SslFiles } from '../schema/listener/ssl-config.ts';
import type { SecretValue } from '../contract/snapshot.ts';
import { readCertificateFiles } from './read-certificates.ts';
import type { ResourceFiles } from './watched-files.ts';

const FIELDS = ['tlsCert', 'tlsKey', 'rootCa'] as const;

/** The certificate files that `sslFiles` names. */
export const certificateFiles: ResourceFiles<SslFiles, SecretValue> = {
  name: 'certificate',
  logger: 'secret',
  // Other kinds do not serve them yet.
  kinds: ['VirtualService', 'Upstream'],
  filesOf: (resource) => (resource as Resource<{ sslConfig?: { sslFiles?: SslFiles } }>).spec.sslConfig?.sslFiles,
  keyOf: (files) => JSON.stringify(FIELDS.map((field) => files[field])),
  pathsOf: (files) => FIELDS.flatMap((field) => files[field] || []),
  read(files) {
    const { secret: content, problem } = readCertificateFiles(files);
    return { ...(content && { content }), ...(problem && { problem }) };
  },
  /** A listener may serve an earlier version of a resource. */
  isServed: (files, { listeners }) =>
    listeners.some(({ sslConfigurations }) =>
      sslConfigurations.some(({ sslConfig }) => isDeepStrictEqual(sslConfig.sslFiles, files)),
    ),
};

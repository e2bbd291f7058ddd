import { expect } from 'chai';
import { serviceSpecOf, undeclaredFunctions, withFunctions } from '../../src/upstream/service-functions.ts';
import type { ServiceSpec } from '../../src/schema/upstream/service-spec.ts';

const template = (path: string) => ({ headers: { ':path': { text: path } } });
const REST: ServiceSpec = { rest: { transformations: { find: template('/found'), add: template('/added') } } };
const GRPC: ServiceSpec = { grpcJsonTranscoder: { protoDescriptorBin: 'YQ==', services: ['shop.Shop'] } };

describe('discovered functions of an upstream', () => {
  it('are all those that it does not declare', () => {
    expect(undeclaredFunctions(undefined, REST)).to.deep.equal(REST);
    expect(undeclaredFunctions({}, GRPC)).to.deep.equal(GRPC);
    const declared = { rest: { swaggerInfo: { url: '/api' }, transformations: { find: template('/mine') } } };
    expect(undeclaredFunctions(declared, REST)).to.deep.equal({
      rest: { transformations: { add: template('/added') } },
    });
    expect(undeclaredFunctions(REST, REST)).to.equal(undefined);
  });

  it('do not replace the descriptors or the services of a transcoder', () => {
    const of = (grpcJsonTranscoder: NonNullable<ServiceSpec['grpcJsonTranscoder']>) =>
      undeclaredFunctions({ grpcJsonTranscoder }, GRPC);
    expect(of({ protoDescriptor: 'shop.pb', services: ['a.B'] })).to.equal(undefined);
    expect(of({ protoDescriptorConfigMap: {} })).to.equal(undefined);
    expect(of({ autoMapping: true })).to.deep.equal(GRPC);
    expect(of({ services: ['a.B'] })).to.deep.equal({ grpcJsonTranscoder: { protoDescriptorBin: 'YQ==' } });
  });

  it('are none of an upstream that declares a service of another type', () => {
    for (const declared of [GRPC, { graphql: { endpoint: { url: '/graphql' } } }, { grpc: {} }])
      expect(undeclaredFunctions(declared, REST)).to.equal(undefined);
    expect(undeclaredFunctions(REST, GRPC)).to.equal(undefined);
  });

  it('are added to the spec of an upstream of any type that has functions', () => {
    const hosts = [{ addr: 'a', port: 1 }];
    const rest = { swaggerInfo: { url: '/api' }, transformations: { find: template('/mine') } };
    const spec = { useHttp2: false, static: { hosts, serviceSpec: { rest } } };
    const complete = withFunctions(spec, REST);
    expect(complete).to.deep.include({ useHttp2: false });
    expect(complete.static!.hosts).to.equal(hosts);
    expect(serviceSpecOf(complete)).to.deep.equal({
      rest: { ...rest, transformations: { find: template('/mine'), add: template('/added') } },
    });
    const kube = { serviceName: 'a', serviceNamespace: 'b', servicePort: 80 };
    expect(serviceSpecOf(withFunctions({ kube }, GRPC))).to.deep.equal(GRPC);
    const pipe = { pipe: { path: '/run/a' } };
    expect(withFunctions(pipe, REST)).to.equal(pipe);
  });
});

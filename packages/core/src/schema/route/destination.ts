import * as f from '../field.ts';
import { WeightedDestinationOptions } from './route-options.ts';
import { FunctionParameters, TransformationTemplate } from './transformations.ts';

const PORT = { minimum: 1, maximum: 65535 } as const;

const destinationSpec = f.block(f.exclusive, {
  aws: f.group('Calls a cloud function.', f.unsupported, {
    logicalName: f.text('Function of the upstream, by logical name.'),
    invocationStyle: f.choice(['SYNC', 'ASYNC'], 'Whether the gateway waits for the response.'),
    requestTransformation: f.flag('Also sends method, path and headers.'),
    responseTransformation: f.flag('Deprecated; reads the response as HTML.'),
    unwrapAsAlb: f.flag('Reads the response as a load balancer would.'),
    unwrapAsApiGateway: f.flag('Reads the response as an API gateway would.'),
    wrapAsApiGateway: f.flag('Calls as an API gateway would.'),
  }),
  azure: f.group('Calls a cloud function.', f.unsupported, { functionName: f.text('Function of the upstream.') }),
  rest: f.group('Calls a function of a REST service.', {
    functionName: f.text('Function of the upstream, see `serviceSpec.rest.transformations`.'),
    parameters: f.of(FunctionParameters, 'Sources of its parameters. Fields of a JSON body are parameters too.'),
    responseTransformation: f.of(TransformationTemplate, 'Transformation of the response.'),
  }),
  grpc: f.group('Deprecated; calls a gRPC method.', f.unsupported, {
    package: f.text('Package of the service.'),
    service: f.text('Name of the service.'),
    function: f.text('Name of the method.'),
    parameters: f.of(FunctionParameters, 'Sources of its fields.'),
  }),
});

const fields = f.block(f.oneOf(['upstream', 'kube', 'consul']), {
  upstream: f.ref('The upstream. Default namespace: that of the enclosing resource.'),
  kube: f.group('A port of a Kubernetes Service, without an upstream.', {
    ref: f.ref('The Service. Default namespace: that of the enclosing resource.'),
    port: f.int('Port of the Service.', PORT),
  }),
  consul: f.group('A service in Consul.', f.unsupported, {
    serviceName: f.text('Name of the service.'),
    tags: f.texts('Tags that instances must have.'),
    dataCenters: f.texts('Data centers. Empty: all.'),
  }),
  destinationSpec: f.of(destinationSpec, 'Function of the upstream to call.'),
  subset: f.group('Restricts the hosts to those with these labels, see `subsetSpec` of the upstream.', {
    values: f.map(f.text(), 'Value by label.'),
  }),
});
/** Where a request goes, as written in a route. */
export interface DestinationSpec extends f.Static<typeof fields> {}
export const DestinationSpec = f.named<DestinationSpec>('Destination', fields);

const weighted = f.block({
  destination: f.of(DestinationSpec, 'The destination of this share.'),
  weight: f.uint32('Share relative to the sum of all weights, which must be at least 1.', { default: 0 }),
  options: f.of(WeightedDestinationOptions, 'Options of this share.'),
});
/** A destination with its weight. */
export interface WeightedDestination extends f.Static<typeof weighted> {}
export const WeightedDestination = f.named<WeightedDestination>('WeightedDestination', weighted);

const multi = f.block({ destinations: f.list(WeightedDestination, 'The destinations; at least one.') });
/** Several weighted destinations. */
export interface MultiDestination extends f.Static<typeof multi> {}
export const MultiDestination = f.named<MultiDestination>('MultiDestination', multi);

import { block, bool, enumeration, int, list, map, named, notYet, of, ref, text, type Static } from '../field.ts';
import { WeightedDestinationOptions } from './route-options.ts';
import { FunctionParameters, TransformationTemplate } from './transformations.ts';

const PORT = { minimum: 1, maximum: 65535 } as const;

const destinationSpec = block(
  {
    aws: of(
      block({
        logicalName: text('Function of the upstream, by logical name.'),
        invocationStyle: enumeration(['SYNC', 'ASYNC'], 'Whether the answer is waited for.', { default: 'SYNC' }),
        requestTransformation: bool('Also sends method, path and headers.', { default: false }),
        responseTransformation: bool('Deprecated; reads the response as HTML.', { default: false }),
        unwrapAsAlb: bool('Reads the response as a load balancer would.', { default: false }),
        unwrapAsApiGateway: bool('Reads the response as an API gateway would.', { default: false }),
        wrapAsApiGateway: bool('Calls as an API gateway would.', { default: false }),
      }),
      'Calls a cloud function.',
    ),
    azure: of(block({ functionName: text('Function of the upstream.') }), 'Calls a cloud function.'),
    rest: of(
      block({
        functionName: text('Function of the upstream.'),
        parameters: of(FunctionParameters, 'Sources of its parameters.'),
        responseTransformation: of(TransformationTemplate, 'Transformation of the response.'),
      }),
      'Calls a function of a REST service.',
    ),
    grpc: of(
      block({
        package: text('Package of the service.'),
        service: text('Name of the service.'),
        function: text('Name of the method.'),
        parameters: of(FunctionParameters, 'Sources of its fields.'),
      }),
      'Deprecated; calls a gRPC method.',
    ),
  },
  { oneOf: [{ members: ['aws', 'azure', 'rest', 'grpc'] }] },
);

const fields = block(
  {
    upstream: ref('The upstream. Default namespace: that of the enclosing resource.'),
    kube: of(
      block({
        ref: ref('The Service.'),
        port: int('Port of the Service.', PORT),
      }),
      'A Kubernetes Service.',
      notYet,
    ),
    consul: of(
      block({
        serviceName: text('Name of the service.'),
        tags: list(text(), 'Tags that instances must have.'),
        dataCenters: list(text(), 'Data centers. Empty: all.'),
      }),
      'A service in Consul.',
      notYet,
    ),
    destinationSpec: of(destinationSpec, 'Function of the upstream to call.', notYet),
    subset: of(
      block({ values: map(text(), 'Value by label.') }),
      'Restricts the endpoints to those with these labels.',
      notYet,
    ),
  },
  { oneOf: [{ members: ['upstream', 'kube', 'consul'] }] },
);
/** Where a request goes, as written in a route. */
export interface DestinationSpec extends Static<typeof fields> {}
export const DestinationSpec = named<DestinationSpec>('Destination', fields);

const weighted = block({
  destination: of(DestinationSpec, 'The destination of this share.'),
  weight: int('Share relative to the sum of all weights, which must be at least 1.', {
    minimum: 0,
    maximum: 4294967295,
    default: 0,
  }),
  options: of(WeightedDestinationOptions, 'Options of this share.'),
});
/** A destination with its weight. */
export interface WeightedDestination extends Static<typeof weighted> {}
export const WeightedDestination = named<WeightedDestination>('WeightedDestination', weighted);

const multi = block({ destinations: list(WeightedDestination, 'The destinations; at least one.') });
/** Several weighted destinations. */
export interface MultiDestination extends Static<typeof multi> {}
export const MultiDestination = named<MultiDestination>('MultiDestination', multi);

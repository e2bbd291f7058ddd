import type {
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { grpcService, message } from './definitions.ts';
import { grpcLibrary } from './library.ts';

const HEALTH_V1 = {
  HealthCheckRequest: message({ service: ['string', 1] }),
  HealthCheckResponse: message({ status: ['int32', 1] }),
  Health: {
    methods: {
      Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' },
      Watch: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse', responseStream: true },
    },
  },
};

/** `ServingStatus` on the wire. */
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

interface Question {
  readonly service: string;
}

interface Health {
  readonly status: number;
}

/** The service `grpc.health.v1.Health` of a server. */
export interface HealthService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Changes the status of all services. False also ends the watches, so that the server can shut down. */
  setServing(serving: boolean): void;
}

/**
 * Creates the service `grpc.health.v1.Health` for services of these names; the empty name is the server itself. They are serving at first.
 *
 * @example
 * const health = createHealthService(['', 'envoy.service.auth.v3.Authorization']);
 * server.addService(health.definition, health.implementation);
 */
export function createHealthService(services: readonly string[]): HealthService {
  const { status } = grpcLibrary();
  const names = new Set(services);
  const watches = new Set<ServerWritableStream<Question, Health>>();
  let current = SERVING;
  return {
    definition: grpcService('grpc.health.v1', 'Health', HEALTH_V1).service,
    implementation: {
      Check({ request }: ServerUnaryCall<Question, Health>, reply: sendUnaryData<Health>) {
        if (names.has(request.service)) reply(null, { status: current });
        else reply({ code: status.NOT_FOUND, details: 'unknown service' });
      },
      Watch(call: ServerWritableStream<Question, Health>) {
        if (!names.has(call.request.service)) {
          call.write({ status: SERVICE_UNKNOWN });
        } else {
          call.write({ status: current });
          if (current === NOT_SERVING) call.end();
        }
        watches.add(call);
        call.on('cancelled', () => watches.delete(call));
      },
    },
    setServing(serving) {
      const next = serving ? SERVING : NOT_SERVING;
      if (next === current) return;
      current = next;
      for (const call of watches) {
        if (names.has(call.request.service)) call.write({ status: current });
        if (!serving) call.end();
      }
      if (!serving) watches.clear();
    },
  };
}

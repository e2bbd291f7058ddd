import '../node-version/supported.ts';
export { channelOptions, createGrpcClient, expireCall, type GrpcChannelSettings, type GrpcClient } from './client.ts';
export { createGrpcClients, type GrpcClientOptions, type GrpcClients } from './upstream-clients.ts';
export { grpcService, message, STRUCT_MESSAGES, type Definition, type MessageFields } from './definitions.ts';
export { fromStruct, toStruct, type ProtoStruct } from './struct.ts';
export { createHealthService, type HealthService } from './health-service.ts';
export { listenGrpcServer, type GrpcServer, type GrpcServerOptions, type GrpcService } from './grpc-server.ts';

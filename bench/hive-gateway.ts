import type { RequestListener } from 'node:http';
import { hiveModule } from './hive-install.ts';

/** The same API as a supergraph of one REST subgraph: Hive makes the same requests to the same backend itself. */
function supergraph(location: string): string {
  return `
    schema
      @link(url: "https://specs.apollo.dev/link/v1.0") @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION)
      @link(url: "https://the-guild.dev/graphql/mesh/spec/v1.0", import: ["@httpOperation", "@transport"])
      @transport(subgraph: "books", kind: "rest", location: "${location}")
    { query: Query }
    directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
    directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String,
      external: Boolean, override: String, usedOverridden: Boolean) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    directive @join__graph(name: String!, url: String!) on ENUM_VALUE
    directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false,
      resolvable: Boolean! = true, isInterfaceObject: Boolean! = false)
      repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
    directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
    directive @httpOperation(subgraph: String, path: String, httpMethod: HTTPMethod) repeatable on FIELD_DEFINITION
    directive @transport(subgraph: String, kind: String, location: String) repeatable on SCHEMA
    enum HTTPMethod @join__type(graph: BOOKS) { GET @join__enumValue(graph: BOOKS) }
    scalar join__FieldSet
    scalar link__Import
    enum link__Purpose { SECURITY EXECUTION }
    enum join__Graph { BOOKS @join__graph(name: "books", url: "${location}") }
    type Query @join__type(graph: BOOKS) {
      book(id: ID!): Book @httpOperation(subgraph: "books", path: "/books/{args.id}", httpMethod: GET)
      books: [Book!] @httpOperation(subgraph: "books", path: "/books", httpMethod: GET)
    }
    type Book @join__type(graph: BOOKS) {
      id: ID! title: String author: String pages: Int year: Int
      details: Details @httpOperation(subgraph: "books", path: "/details/{root.id}", httpMethod: GET)
      reviews: [Review!] @httpOperation(subgraph: "books", path: "/reviews/{root.id}", httpMethod: GET)
      ratings: [Rating!] @httpOperation(subgraph: "books", path: "/ratings/{root.id}", httpMethod: GET)
    }
    type Details @join__type(graph: BOOKS) { publisher: String language: String }
    type Review @join__type(graph: BOOKS) { reviewer: String text: String }
    type Rating @join__type(graph: BOOKS) { reviewer: String stars: Int }
  `;
}

/** Hive gateway before the backend, with its compiled execution on and nothing else. */
export async function hiveGateway(port: number): Promise<RequestListener> {
  const { createGatewayRuntime } = await hiveModule('@graphql-hive/gateway-runtime');
  const { default: rest } = await hiveModule('@graphql-mesh/transport-rest');
  const create = createGatewayRuntime as (options: object) => RequestListener;
  return create({
    supergraph: supergraph(`http://127.0.0.1:${port}`),
    transports: { rest },
    jit: true,
    logging: 'warn',
    graphiql: false,
    landingPage: false,
  });
}

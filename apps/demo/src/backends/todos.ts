import { EventEmitter, on } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildSchema, graphql, subscribe, parse, validate, type ExecutionResult } from 'graphql';
import { sendJson, startService, type Service } from './http-service.ts';

const SCHEMA = buildSchema(`
  type Todo { id: ID! text: String! done: Boolean! }
  type Query { todo(id: ID!): Todo todoList: [Todo!]! }
  type Mutation { createTodo(text: String!): Todo! updateTodo(id: ID!, done: Boolean!): Todo }
  type Subscription { todoAdded: Todo! }
`);
const MAX_BODY_BYTES = 1024 * 1024;

interface Todo {
  readonly id: string;
  readonly text: string;
  readonly done: boolean;
}

/** The todos GraphQL server: `POST /graphql` with JSON; subscriptions as `text/event-stream`. It starts with three todos. */
export function startTodos(address: { host?: string; port?: number } = {}): Promise<Service> {
  const todos = createTodos();
  return startService('todos', (req, res) => void serve(todos, req, res), address);
}

type Todos = ReturnType<typeof createTodos>;

function createTodos() {
  const todos = new Map<string, Todo>();
  const added = new EventEmitter().setMaxListeners(0);
  const put = (todo: Todo): Todo => {
    todos.set(todo.id, todo);
    return todo;
  };
  for (const [id, text] of [
    ['a', 'Write a gateway'],
    ['b', 'Test it'],
    ['c', 'Sleep'],
  ] as const)
    put({ id, text, done: false });
  return {
    todo: ({ id }: { id: string }) => todos.get(id),
    todoList: () => [...todos.values()],
    createTodo({ text }: { text: string }): Todo {
      const todo = put({ id: `todo-${todos.size + 1}`, text, done: false });
      added.emit('todo', todo);
      return todo;
    },
    updateTodo({ id, done }: { id: string; done: boolean }): Todo | undefined {
      const todo = todos.get(id);
      return todo && put({ ...todo, done });
    },
    async *todoAdded(): AsyncGenerator<{ todoAdded: Todo }> {
      for await (const [todoAdded] of on(added, 'todo')) yield { todoAdded: todoAdded as Todo };
    },
  };
}

async function serve(todos: Todos, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = (req.url ?? '/').split('?', 1)[0];
  if (path !== '/graphql') return sendJson(res, 404, { errors: [{ message: 'not found' }] });
  if (req.method !== 'POST') return sendJson(res, 405, { errors: [{ message: 'only POST' }] });
  const request = await readRequest(req);
  if (!request) return sendJson(res, 400, { errors: [{ message: 'not a GraphQL request' }] });
  const { query: source, variables: variableValues, operationName } = request;
  if (req.headers.accept?.includes('text/event-stream')) return stream(todos, request, res);
  sendJson(res, 200, await graphql({ schema: SCHEMA, source, rootValue: todos, variableValues, operationName }));
}

interface TodosRequest {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
}

async function readRequest(req: IncomingMessage): Promise<TodosRequest | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as TodosRequest;
    return typeof body?.query === 'string' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Sends results as events `next`, and `complete` at their end. */
async function stream(todos: Todos, { query, variables }: TodosRequest, res: ServerResponse): Promise<void> {
  const results = await subscribed(todos, query, variables);
  if (!(Symbol.asyncIterator in results)) return sendJson(res, 200, results);
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  res.write(': ready\n\n');
  const iterator = results[Symbol.asyncIterator]();
  res.once('close', () => void iterator.return?.());
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    res.write(`event: next\ndata: ${JSON.stringify(next.value)}\n\n`);
  }
  res.end('event: complete\ndata:\n\n');
}

async function subscribed(
  todos: Todos,
  query: string,
  variableValues: Record<string, unknown> | undefined,
): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
  try {
    const document = parse(query);
    const errors = validate(SCHEMA, document);
    if (errors.length > 0) return { errors };
    return await subscribe({ schema: SCHEMA, document, rootValue: todos, variableValues });
  } catch (error) {
    return { errors: [error as never] };
  }
}

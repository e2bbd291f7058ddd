import { explainWithAccess, type ExplainedRequest } from './access.ts';
import { renderExplanation, withoutSecrets } from './explanation.ts';
import { missingToken } from './login-token.ts';
import { rejectedBehind } from './rejected-resources.ts';
import { attempt, type WrittenRequest } from './request-arguments.ts';
import { chooseSnapshot, explainContext, unservedFor, unusedListeners, type Served } from './served.ts';
import { routesOfRequest } from './written-routes.ts';
import type { Colors } from '../output/terminal.ts';

/** The request to explain. */
export interface Question {
  readonly request: WrittenRequest;
  /** Claims of an assumed verified token. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Name of the listener. Default: by port or scheme of the URL. */
  readonly listener?: string | undefined;
  /** Name of the proxy if there are several. */
  readonly proxy?: string | undefined;
}

/** An explanation without secret values: as data, and as text. */
export interface ServedExplanation {
  readonly data: ExplainedRequest['explanation'];
  readonly text: (colors: Colors) => Promise<string>;
}

/** Explains a request with the served configuration and the resources that determine the response. No request is sent. */
export async function explainServed(served: Served, question: Question): Promise<ServedExplanation> {
  const { request, claims } = question;
  const snapshot = chooseSnapshot(served.snapshots, question.proxy);
  const { objects, secrets } = served;
  const input = { snapshot, context: explainContext(objects), claims, auth: { secrets } };
  const listener = question.listener === undefined ? {} : { listener: question.listener };
  const hostStates = (upstream: string) => served.hostStates?.get(upstream);
  const ask = async (headers: Record<string, string[]>) => {
    const { explanation, loginToken, granted } = await attempt(() =>
      explainWithAccess({ ...request, headers, hostStates, ...listener }, input),
    );
    return { loginToken, explanation: withoutSecrets(explanation, granted) };
  };
  const { explanation, loginToken } = await ask(request.headers);
  const isRouteOfRequest = routesOfRequest({ ...request, ...listener }, explanation, snapshot);
  const rejected = rejectedBehind(explanation, snapshot, { ...served, isRouteOfRequest });
  const data = { ...explanation, ...(rejected.length > 0 && { rejected }) };
  return {
    data,
    text: async (colors) => {
      const choice = { url: request.url, ...listener };
      const unused = unusedListeners(objects, snapshot);
      const unserved = await unservedFor(explanation, choice, () => served.readUnserved(snapshot.proxy), unused);
      const { cookie: cookies = [] } = request.headers;
      const withCookie = async (cookie: string) =>
        (await ask({ ...request.headers, cookie: [[...cookies, cookie].join('; ')] })).explanation;
      const missing = loginToken && (await missingToken(loginToken, withCookie));
      return renderExplanation({ ...data, unserved, missingToken: missing }, colors);
    },
  };
}

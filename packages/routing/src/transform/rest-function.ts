import { factsOf, functionTemplate, parameterExtractors, type Concern, type Context } from '@edge-gateway/core';
import type { Handler, RestCall, Scope } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { handlerOf, isFromUpstream } from './concern.ts';
import { compileStage } from './stage.ts';

/**
 * `destinationSpec.rest`: calls a function of the upstream. Its template renders the request; the parameters are extracted from the request before path
 * and host are rewritten, and the path of the template replaces the rewritten one.
 */
export const restFunctionConcern: Concern<RestCall> = {
  name: 'restFunction',
  option: 'restFunction',
  stage: 'postRouting',
  compile,
};

function compile(call: RestCall, context: Context, scope?: Scope): Handler | undefined {
  const { functionName, template, parameters = {}, responseTransformation } = call;
  if (!template) throw routingError('ERR_ROUTING_OPTION', `the upstream has no function ${functionName}`);
  const request = functionTemplate(template);
  const extractors = { ...request.extractors, ...parameterExtractors(parameters) };
  const stage = compileStage(
    {
      requestTransforms: [
        {
          requestTransformation: { transformationTemplate: { ...request, extractors } },
          ...(responseTransformation && {
            responseTransformation: { transformationTemplate: responseTransformation },
          }),
        },
      ],
    },
    {
      env: context.env ?? {},
      escape: scope?.settings.escapeCharacters ?? false,
      log: context.log.get('http'),
      logsAll: scope?.settings.logTransformations ?? false,
    },
  );
  const apply = handlerOf({ stage, context, appliesTo: isFromUpstream })!;
  const setsPath = Object.keys(request.headers ?? {}).some((name) => name.toLowerCase() === ':path');

  const handler: Handler = function restFunction(req, res, next) {
    const facts = factsOf(req);
    const rewritten = facts.path;
    facts.path = facts.routedPath ?? rewritten;
    apply(req, res, (error) => {
      if (!setsPath) facts.path = rewritten;
      next(error);
    });
  };
  if (apply.filterResponse) handler.filterResponse = apply.filterResponse;
  return handler;
}

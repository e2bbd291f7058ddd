import * as f from '../field.ts';
import { HeaderMatcher, Matcher } from './matcher.ts';

const template = f.group('A template in the Jinja-like template language.', { text: f.text('The template.') });

const extractor = f.block(f.oneOf(['header', 'body']), {
  header: f.text('Header to read; only its first value.'),
  body: f.empty('Reads the body.'),
  regex: f.regex('RE2 expression; what it must match depends on `mode`.'),
  subgroup: f.count('Capture group to extract; 0 is the whole match.', { default: 0 }),
  mode: f.choice(
    ['EXTRACT', 'SINGLE_REPLACE', 'REPLACE_ALL'],
    'Extracts a group, replaces it, or replaces every match.',
  ),
  replacementText: f.text('Replacement; required by both replace modes, an error with `EXTRACT`.'),
});
const mergeKeys = f.block({
  jsonKeys: f.map(
    f.block({
      tmpl: template,
      overrideEmpty: f.flag('Writes empty results too.'),
    }),
    'Template by path of the key to set.',
  ),
});
const templateFields = f.block(f.oneOf(['body', 'passthrough', 'mergeExtractorsToBody', 'mergeJsonKeys']), {
  parseBodyBehavior: f.choice(
    ['ParseAsJson', 'DontParse'],
    'Whether the body is read as JSON. It is read as a whole either way.',
  ),
  ignoreErrorOnParse: f.flag('Treats a body that is not JSON as empty JSON. Default: it is rejected with 400.'),
  extractors: f.map(extractor, 'Values to extract from headers or the body, by name.'),
  headers: f.map(
    template,
    'Template by header; replaces all values, and an empty result removes the header.',
    f.headerValue,
  ),
  headersToAppend: f.groups('Headers to append; an empty result adds nothing.', {
    key: f.text('Header name.'),
    value: f.of(template, 'Template of its value.', f.headerValue),
  }),
  headersToRemove: f.texts('Headers to remove.'),
  body: f.of(template, 'Template of the new body.'),
  passthrough: f.empty('Neither reads nor changes the body; templates see an empty one.'),
  mergeExtractorsToBody: f.empty('Writes the extracted values into the JSON body; dots in names nest.'),
  mergeJsonKeys: f.of(mergeKeys, 'Writes the results of templates into the JSON body.'),
  dynamicMetadataValues: f.groups('Values for later concerns and the access log.', {
    metadataNamespace: f.text('Namespace of the value.', { default: 'io.vendor.transformation' }),
    key: f.text('Name of the value.'),
    value: template,
    jsonToProto: f.flag('The result is JSON and is kept as structure.'),
  }),
  advancedTemplates: f.flag('Paths are written `a/b`, and extracted values are read with `extraction`.'),
  escapeCharacters: f.bool(
    'Keeps JSON escapes when strings are inserted. Default: the enclosing block, then Settings.',
  ),
  spanTransformer: f.group('Renames the trace span; requests only.', {
    name: f.of(template, 'Template of the name.'),
  }),
});
/** Changes a message with templates. */
export interface TransformationTemplate extends f.Static<typeof templateFields> {}
export const TransformationTemplate = f.named<TransformationTemplate>('TransformationTemplate', templateFields);

const transformation = f.block(f.oneOf(['transformationTemplate', 'headerBodyTransform', 'xsltTransformation']), {
  transformationTemplate: f.of(TransformationTemplate, 'Changes headers and body with templates.'),
  headerBodyTransform: f.group('Wraps headers and body into one JSON body.', {
    addRequestMetadata: f.flag('Adds query, method and path of a request.'),
  }),
  xsltTransformation: f.group('Changes the body with an XSLT stylesheet.', f.unsupported, {
    xslt: f.text('The stylesheet.'),
    setContentType: f.text('New content type; empty keeps the old one.'),
    nonXmlTransform: f.flag('The input is not XML and is passed as text.'),
  }),
  logRequestResponseInfo: f.flag('Logs input and output at level debug, without secrets.'),
});
/** One transformation of a message. */
export interface Transformation extends f.Static<typeof transformation> {}
export const Transformation = f.named<Transformation>('Transformation', transformation);

const stage = f.block({
  requestTransforms: f.groups('Only the first match is used.', {
    matcher: f.of(Matcher, 'Requests to which it applies; unset: all. Its `caseSensitive` is ignored.'),
    clearRouteCache: f.flag('Selects the route again after the transformation.'),
    requestTransformation: f.of(Transformation, 'Transformation of the request.'),
    responseTransformation: f.of(Transformation, 'Transformation of its response.'),
  }),
  responseTransforms: f.list(
    f.block({
      matchers: f.list(HeaderMatcher, 'Conditions on response headers; all must match.'),
      responseCodeDetails: f.text('Response code details that must match, e.g. `via_upstream`. Unset: all.'),
      responseTransformation: f.of(Transformation, 'Transformation of the response.'),
    }),
    'Used if the matched request entry has no response transformation; the first match is used.',
  ),
});
/** The transformations of one stage. */
export interface TransformationStage extends f.Static<typeof stage> {}
export const TransformationStage = f.named<TransformationStage>('TransformationStage', stage);

const staged = f.block({
  early: f.of(TransformationStage, 'Before login and access control.'),
  regular: f.of(TransformationStage, 'After access control.'),
  postRouting: f.of(
    TransformationStage,
    'After the host of the upstream is chosen; only forwarded requests and their responses.',
  ),
  inheritTransformation: f.flag('Appends the early and regular lists of the parent.'),
  logRequestResponseInfo: f.flag('Logs input and output at level debug, without secrets.'),
  escapeCharacters: f.bool('Default for the templates below. Default: Settings `gw.transformationEscapeCharacters`.'),
});
/** Transformations of requests and responses by stage. The most specific level that has the option replaces the others. */
export interface StagedTransformations extends f.Static<typeof staged> {}
export const StagedTransformations = f.named<StagedTransformations>('StagedTransformations', staged);

const single = f.block({
  requestTransformation: f.of(Transformation, 'Transformation of the request.'),
  clearRouteCache: f.flag('Selects the route again after the transformation.'),
  responseTransformation: f.of(Transformation, 'Transformation of the response.'),
});
/** Deprecated form; ignored if `stagedTransformations.regular` is set. */
export interface Transformations extends f.Static<typeof single> {}
export const Transformations = f.named<Transformations>('Transformations', single);

const parameters = f.block({
  headers: f.map(
    f.text(),
    'Pattern by header, e.g. `{id}`, with parameters in braces: letters, digits, `-`, `.` and `_`. It must match the whole value.',
  ),
  path: f.text('Pattern of the path before rewrites, without its query unless the pattern has one, e.g. `/pets/{id}`.'),
});
/** Parameters of a function: which header or path segment a value comes from. */
export interface FunctionParameters extends f.Static<typeof parameters> {}
export const FunctionParameters = f.named<FunctionParameters>('FunctionParameters', parameters);

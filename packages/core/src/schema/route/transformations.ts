import {
  anything,
  block,
  bool,
  empty,
  enumeration,
  int,
  list,
  map,
  named,
  notYet,
  of,
  regex,
  text,
  type Static,
} from '../field.ts';
import { HeaderMatcher, Matcher } from './matcher.ts';

const template = of(block({ text: text('The template.') }), 'A template in the Jinja-like template language.');

const extractor = block(
  {
    header: text('Header to read; only its first value.'),
    body: empty('Reads the body.', notYet),
    regex: regex('RE2 expression; what it must match depends on `mode`.'),
    subgroup: int('Capture group to extract; 0 is the whole match.', { minimum: 0, default: 0 }),
    mode: enumeration(
      ['EXTRACT', 'SINGLE_REPLACE', 'REPLACE_ALL'],
      'Extracts a group, replaces it, or replaces every match.',
      {
        default: 'EXTRACT',
      },
    ),
    replacementText: text('Replacement; required by both replace modes, an error with `EXTRACT`.'),
  },
  { oneOf: [{ members: ['header', 'body'] }] },
);
const mergeKeys = block({
  jsonKeys: map(
    block({
      tmpl: template,
      overrideEmpty: bool('Writes empty results too.', { default: false }),
    }),
    'Template by path of the key to set.',
  ),
});
const templateFields = block(
  {
    parseBodyBehavior: enumeration(['ParseAsJson', 'DontParse'], 'Whether the body is read as JSON.', {
      default: 'ParseAsJson',
    }),
    ignoreErrorOnParse: bool('False rejects a body that is not JSON with 400.', { default: false }),
    extractors: map(extractor, 'Values to extract from headers or the body, by name.'),
    headers: map(template, 'Template by header; replaces all values, and an empty result removes the header.'),
    headersToAppend: list(
      block({ key: text('Header name.'), value: template }),
      'Headers to append; an empty result adds nothing.',
    ),
    headersToRemove: list(text(), 'Headers to remove.'),
    body: of(template, 'Template of the new body.', notYet),
    passthrough: empty('Does not change or buffer the body.'),
    mergeExtractorsToBody: empty('Writes the extracted values into the JSON body; dots in names nest.', notYet),
    mergeJsonKeys: of(mergeKeys, 'Writes the results of templates into the JSON body.', notYet),
    dynamicMetadataValues: list(
      block({
        metadataNamespace: text('Namespace of the value.', { default: 'io.vendor.transformation' }),
        key: text('Name of the value.'),
        value: template,
        jsonToProto: bool('The result is JSON and is kept as structure.', { default: false }),
      }),
      'Values for later concerns and the access log.',
    ),
    advancedTemplates: bool('Paths are written `a/b`, and extracted values are read with `extraction`.', {
      default: false,
    }),
    escapeCharacters: bool(
      'Keeps JSON escapes when strings are inserted. Default: the enclosing block, then Settings.',
    ),
    spanTransformer: of(
      block({ name: of(template, 'Template of the name.') }),
      'Renames the trace span; requests only.',
      notYet,
    ),
  },
  { oneOf: [{ members: ['body', 'passthrough', 'mergeExtractorsToBody', 'mergeJsonKeys'] }] },
);
/** Changes a message with templates. */
export interface TransformationTemplate extends Static<typeof templateFields> {}
export const TransformationTemplate = named<TransformationTemplate>('TransformationTemplate', templateFields);

const transformation = block(
  {
    transformationTemplate: of(TransformationTemplate, 'Changes headers and body with templates.'),
    headerBodyTransform: of(
      block({ addRequestMetadata: bool('Adds query, method and path of a request.', { default: false }) }),
      'Wraps headers and body into one JSON body.',
      notYet,
    ),
    xsltTransformation: of(
      block({
        xslt: text('The stylesheet.'),
        setContentType: text('New content type; empty keeps the old one.'),
        nonXmlTransform: bool('The input is not XML and is passed as text.', { default: false }),
      }),
      'Changes the body with an XSLT stylesheet.',
      notYet,
    ),
    logRequestResponseInfo: bool('Logs input and output at level debug.', { default: false, ...notYet }),
  },
  { oneOf: [{ members: ['transformationTemplate', 'headerBodyTransform', 'xsltTransformation'] }] },
);
/** One transformation of a message. */
export interface Transformation extends Static<typeof transformation> {}
export const Transformation = named<Transformation>('Transformation', transformation);

const stage = block({
  requestTransforms: list(
    block({
      matcher: of(Matcher, 'Requests to which it applies; unset: all. Its `caseSensitive` is ignored.'),
      clearRouteCache: bool('Selects the route again after the transformation.', { default: false }),
      requestTransformation: of(Transformation, 'Transformation of the request.'),
      responseTransformation: of(Transformation, 'Transformation of its response.', notYet),
    }),
    'Only the first match is used.',
  ),
  responseTransforms: list(
    block({
      matchers: list(HeaderMatcher, 'Conditions on response headers; all must match.'),
      responseCodeDetails: text('Response code details that must match.'),
      responseTransformation: of(Transformation, 'Transformation of the response.'),
    }),
    'Used if the matched request entry has no response transformation; the first match is used.',
    notYet,
  ),
});
/** The transformations of one stage. */
export interface TransformationStage extends Static<typeof stage> {}
export const TransformationStage = named<TransformationStage>('TransformationStage', stage);

const staged = block({
  early: of(TransformationStage, 'Before login and access control.'),
  regular: of(TransformationStage, 'After access control.'),
  postRouting: of(TransformationStage, 'After the upstream is selected.', notYet),
  inheritTransformation: bool('Appends the early and regular lists of the parent.', { default: false }),
  logRequestResponseInfo: bool('Logs input and output at level debug.', { default: false, ...notYet }),
  escapeCharacters: bool('Default for the templates below. Default: Settings `gw.transformationEscapeCharacters`.'),
});
/** Transformations of requests and responses by stage. The most specific level that has the option replaces the others. */
export interface StagedTransformations extends Static<typeof staged> {}
export const StagedTransformations = named<StagedTransformations>('StagedTransformations', staged);

const single = block({
  requestTransformation: of(Transformation, 'Transformation of the request.'),
  clearRouteCache: bool('Selects the route again after the transformation.', { default: false }),
  responseTransformation: of(Transformation, 'Transformation of the response.', notYet),
});
/** Deprecated form; ignored if `stagedTransformations.regular` is set. */
export interface Transformations extends Static<typeof single> {}
export const Transformations = named<Transformations>('Transformations', single);

/** Parameters of a function call: which header or path segment a value comes from. */
const parameters = block({
  headers: map(text(), 'Value pattern by header, e.g. `{id}`.'),
  path: anything('Pattern of the path that values are taken from.'),
});
export interface FunctionParameters extends Static<typeof parameters> {}
export const FunctionParameters = named<FunctionParameters>('FunctionParameters', parameters);

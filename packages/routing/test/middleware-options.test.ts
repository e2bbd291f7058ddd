import { expect } from 'chai';
import { buffer, compress, cors, csrf, dlp, transform } from '../src/index.ts';

/** Calls a factory as plain JavaScript does, which checks no types. */
const thrown = (create: unknown, options?: unknown): unknown => {
  try {
    (create as (options: unknown) => unknown)(options);
    return 'nothing';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
};

describe('options of middlewares without type checks', () => {
  const mistakes: Record<string, [create: unknown, options: unknown, message: RegExp]> = {
    'an unknown key': [cors, { allowOrigns: ['https://a.example'] }, /cors: .*allowOrigns.*allowOrigin/],
    'a key of the block inside': [buffer, { maxRequestBytes: 10 }, /bufferPerRoute: .*maxRequestBytes/],
    'a key of a list': [dlp, { actions: [{ actionType: 'VISAS' }] }, /dlp: actions\[0\].actionType: .*VISAS/],
    'a value of a list': [compress, { encodings: ['deflate'] }, /gzip: encodings\[0\]: .*deflate/],
    'a value of another type': [compress, { contentLength: 'x' }, /gzip: contentLength: .*(?:number|integer)/],
    'a nested key': [csrf, { filterEnabled: { defaultValue: { numerater: 1 } } }, /csrf: .*numerater/],
    'a key of a transformation': [transform, { requestTransform: [] }, /transform: .*requestTransforms/],
    'a share above 100 %': [
      csrf,
      { filterEnabled: { defaultValue: { numerator: 200, denominator: 'HUNDRED' } } },
      /csrf: filterEnabled\.defaultValue\.numerator: the share 200 of HUNDRED is above 100 %$/,
    ],
    'cors without an origin': [
      cors,
      {},
      /cors: cors must allow at least one origin \(allowOrigin, allowOriginRegex\)$/,
    ],
    'an action without an expression': [
      dlp,
      { actions: [{ customAction: { name: 'a' } }] },
      /dlp: actions\[0\]: a custom action needs an expression/,
    ],
    'an extractor without a source': [
      transform,
      {
        requestTransforms: [
          { requestTransformation: { transformationTemplate: { extractors: { id: { regex: 'a' } } } } },
        ],
      },
      /transform: requestTransforms\[0\]\.requestTransformation\.transformationTemplate\.extractors\.id: extractor id: header or body is required$/,
    ],
  };
  for (const [name, [create, options, message]] of Object.entries(mistakes)) {
    it(`rejects ${name}`, () => {
      expect(thrown(create, options))
        .to.match(/^ERR_CORE_MIDDLEWARE /)
        .and.match(message);
    });
  }

  it('rejects missing options', () => {
    for (const create of [buffer, compress, cors, csrf, dlp, transform])
      for (const options of [undefined, null, 'text'])
        expect(thrown(create, options)).to.match(/^ERR_CORE_MIDDLEWARE .*: options are missing$/);
  });

  it('accepts what is only a warning in a resource', () => {
    expect(thrown(cors, { allowOrigin: ['*'], allowCredentials: true })).to.equal('nothing');
    expect(thrown(csrf, { filterEnabled: { defaultValue: { numerator: 100 } } })).to.equal('nothing');
  });

  it('accepts undefined fields and onRefusal', () => {
    expect(thrown(cors, { allowOrigin: ['https://a.example'], maxAge: undefined, onRefusal: 'next' })).to.equal(
      'nothing',
    );
    expect(thrown(buffer, { buffer: { maxRequestBytes: 10 } })).to.equal('nothing');
  });
});

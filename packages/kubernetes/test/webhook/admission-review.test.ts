import { expect } from 'chai';
import { readReview, reviewOf, type AdmissionRequest } from '../../src/webhook/admission-review.ts';

const object = {
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name: 'a', namespace: 'shop' },
  spec: {},
};
const request = {
  uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
  kind: { group: 'gw.vendor.io', version: 'v1', kind: 'Upstream' },
  name: 'a',
  namespace: 'shop',
  operation: 'CREATE',
  object,
  oldObject: null,
};
const review = (changes: object = {}, frame: object = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { ...request, ...changes },
    ...frame,
  });

describe('readReview', () => {
  it('returns the request of a review', () => {
    expect(readReview(review())).to.deep.equal(request);
    expect(readReview(review({ operation: 'DELETE', object: null, oldObject: object }))).to.be.an('object');
    expect(readReview(review({ operation: 'DELETE', object: undefined, oldObject: undefined }))).to.be.an('object');
  });

  for (const [what, text, problem] of [
    ['no JSON', '{', 'the body must be JSON'],
    ['a list', '[]', 'the body must be an AdmissionReview'],
    ['null', 'null', 'the body must be an AdmissionReview'],
    ['v1beta1', review({}, { apiVersion: 'admission.k8s.io/v1beta1' }), 'must be an AdmissionReview of'],
    ['another kind', review({}, { kind: 'ConversionReview' }), 'must be an AdmissionReview of'],
    ['no request', review({}, { request: undefined }), 'the review has no request'],
    ['no uid', review({ uid: undefined }), 'request.uid must be a text'],
    ['an empty uid', review({ uid: '' }), 'request.uid must be a text'],
    ['a huge uid', review({ uid: 'x'.repeat(10_000) }), 'request.uid must be a text'],
    ['an incomplete kind', review({ kind: { kind: 'Upstream' } }), 'request.kind must have'],
    ['an unknown operation', review({ operation: 'PATCH' }), 'request.operation must be one of'],
    ['a name that is no text', review({ name: {} }), 'must be texts'],
    ['no object', review({ object: null }), 'request.object is missing'],
    ['an object that is a list', review({ object: [] }), 'request.object must be an object with metadata'],
    ['an object without metadata', review({ object: { kind: 'Upstream' } }), 'must be an object with metadata'],
    ['an object without name', review({ object: { kind: 'Upstream', metadata: {} } }), 'with metadata'],
    [
      'annotations that are a text',
      review({ object: { ...object, metadata: { name: 'a', annotations: 'x' } } }),
      'with metadata',
    ],
    ['an object of another kind', review({ object: { ...object, kind: 'Secret' } }), 'of the kind in request.kind'],
    ['an update without an object', review({ operation: 'UPDATE', object: null }), 'request.object is missing'],
    ['an object of another namespace', review({ namespace: 'other' }), 'in the namespace of the request'],
    [
      'an object without a namespace',
      review({ object: { ...object, metadata: { name: 'a' } } }),
      'in the namespace of the request',
    ],
    [
      'an old object of another kind',
      review({ oldObject: { ...object, kind: 'Secret' } }),
      'of the kind in request.kind',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(readReview(text)).to.be.a('string').that.contains(problem);
    });
  }
});

describe('reviewOf', () => {
  const known = request as unknown as AdmissionRequest;
  const responseOf = (verdict: Parameters<typeof reviewOf>[1]): any => (reviewOf(known, verdict) as any).response;

  it('allows with the uid of the request and nothing else', () => {
    expect(reviewOf(known, { allowed: true, warnings: [] })).to.deep.equal({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, allowed: true },
    });
  });

  it('names object, field and reason of a rejection', () => {
    const rejection = {
      message: 'invalid',
      causes: [
        { field: 'spec.a', message: 'wrong' },
        { field: '', message: 'too' },
      ],
    };
    expect(responseOf({ allowed: false, rejection }).status).to.deep.equal({
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: 'invalid',
      details: {
        name: 'a',
        group: 'gw.vendor.io',
        kind: 'Upstream',
        causes: [
          { reason: 'FieldValueInvalid', message: 'wrong', field: 'spec.a' },
          { reason: 'FieldValueInvalid', message: 'too' },
        ],
      },
    });
  });

  it('names an object whose name the API server has generated', () => {
    const rejection = { message: 'invalid', causes: [] };
    const generated = { ...known, name: '' };
    const response = (reviewOf(generated, { allowed: false, rejection }) as any).response;
    expect(response.status.details.name).to.equal('a');
  });

  it('keeps warnings within the limits of the API server, on one line each', () => {
    const warnings = Array.from({ length: 100 }, (_, i) => `${i} \n ${'😀'.repeat(200)}`);
    const shown: string[] = responseOf({ allowed: true, warnings }).warnings;
    expect(Math.max(...shown.map((text) => text.length))).to.be.at.most(256);
    expect(shown.join('').length).to.be.below(4096);
    expect(shown.every((text) => text.isWellFormed() && !text.includes('\n'))).to.equal(true);
    expect(shown.at(-1)).to.equal(`and ${100 - (shown.length - 1)} more problems; see the status of the resource`);
  });

  it('limits the causes and the message of a rejection', () => {
    const causes = Array.from({ length: 1000 }, () => ({ message: 'x'.repeat(100_000) }));
    const response = responseOf({ allowed: false, rejection: { message: 'y'.repeat(1e6), causes } });
    expect(JSON.stringify(response).length).to.be.below(100_000);
  });
});

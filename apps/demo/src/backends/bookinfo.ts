import type { IncomingMessage, ServerResponse } from 'node:http';
import { PRODUCTS, RATINGS, REVIEWS, detailsOf, type Product } from './bookinfo-data.ts';
import { sendJson, startService, type Service } from './http-service.ts';

/** The response of each path of the bookinfo API for one book. */
const BY_BOOK: Readonly<Record<string, (product: Product) => unknown>> = {
  '/api/v1/products/': (product) => product,
  '/details/': detailsOf,
  '/reviews/': (product) => ({ id: product.id, reviews: REVIEWS }),
  '/ratings/': (product) => ({ id: product.id, ratings: RATINGS }),
};

/** The bookinfo services behind one port: `/api/v1/products[/{id}]`, `/details/{id}`, `/reviews/{id}`, `/ratings/{id}`. */
export function startBookinfo(address: { host?: string; port?: number } = {}): Promise<Service> {
  return startService('bookinfo', serveBookinfo, address);
}

function serveBookinfo(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  if (req.method !== 'GET' && req.method !== 'HEAD') return sendJson(res, 405, { error: 'only GET' });
  const path = (req.url ?? '/').split('?', 1)[0]!;
  if (path === '/api/v1/products') return sendJson(res, 200, PRODUCTS);
  const prefix = Object.keys(BY_BOOK).find((each) => path.startsWith(each));
  const product = prefix && PRODUCTS.find((each) => each.id === path.slice(prefix.length));
  if (!prefix || !product) return sendJson(res, 404, { error: 'no such book' });
  return sendJson(res, 200, BY_BOOK[prefix]!(product));
}

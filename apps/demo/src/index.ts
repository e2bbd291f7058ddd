export { startBookinfo } from './bookinfo.ts';
export { startDemo, type Demo } from './demo.ts';
export { startEcho } from './echo.ts';
export { startService, type Service } from './http-service.ts';

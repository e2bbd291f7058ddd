// A separate server with basic auth on one of its two routes.
import { extauth } from '@edge-gateway/extauth';
import { serveOne } from './serve-one.ts';

const [salt, hashedPassword] =
  process.argv[2] === 'bcrypt'
    ? ['', '$2a$10$b9DBzKKvmO/o/QoXE7JVIOeUKxOY8ycevBiRwSt18KE61sRfpS0De']
    : ['TYiryv0/', '8BvzLUO9IfGPGGsPnAgSu1'];
const users = { alice: { salt, hashedPassword } };
const guard = extauth({ config: { configs: [{ basicAuth: { realm: 'bench', apr: { users } } }] } });

serveOne((req, res) => {
  if (req.url === '/open') res.end('open');
  else guard(req, res, (error) => res.writeHead(error ? 500 : 200).end());
});

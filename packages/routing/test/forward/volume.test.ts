import { describeVolume } from './volume.ts';

describeVolume('256 MiB', 256 * 1024 ** 2);
